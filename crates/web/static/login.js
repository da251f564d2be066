// The login link carries the token in the fragment, which no server and no log ever sees. Take it out of the address
// bar and of the history before anything else, then log in with it.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) {
  history.replaceState(null, "", location.pathname + location.search);
  const form = document.getElementById("login");
  form.elements.token.value = token;
  form.submit();
}
