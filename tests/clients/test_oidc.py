"""People log in at a certified OpenID provider, and come back with the role of their group."""

import contextlib
import http.cookiejar
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from server import ENVIRONMENT, TIMEOUT_SECONDS, running_server

CLIENTS = os.environ["AGENTGAZER_CLIENTS"]
SECRET = "a-client-secret-of-the-test-with-32-characters"


def free_port() -> int:
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def running_provider(port: int, callback: str):
    """The provider, which knows where it may lead back to."""
    node = os.path.join(CLIENTS, "sdks/bin/node")
    command = [node, os.path.join(CLIENTS, "oidc/provider.mjs"), str(port), callback]
    environment = ENVIRONMENT | {"NODE_ENV": "development"}
    # `node` is a script that starts the real one: both end with their group.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    try:
        assert any("ready" in line for line in process.stdout), "the provider did not start"
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    port, folder = free_port(), tmp_path_factory.mktemp("oidc")
    (folder / "secret").write_text(SECRET + "\n")
    settings = (
        f"auth.oidc.issuer=http://127.0.0.1:{port}",
        "auth.oidc.client_id=gazer",
        f"auth.oidc.client_secret_file={folder / 'secret'}",
        "auth.oidc.scopes=profile,email,groups",
        "auth.oidc.roles=ops=operator",
    )
    with running_server(folder, settings) as server:
        with running_provider(port, f"{server.dashboard}/login/oidc/callback"):
            yield server


class Person(urllib.request.HTTPRedirectHandler):
    """Somebody with a browser, who fills in the provider's forms."""

    def __init__(self, name: str):
        self.name, self.cookies = name, http.cookiejar.CookieJar()
        #: The provider's answers that led back, each with the cookie of the login that it belongs to.
        self.answers: list[tuple[str, str]] = []
        self.browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies), self)

    def redirect_request(self, request, file, code, message, headers, url):
        if "/login/oidc/callback" in url:
            cookies = [f"{cookie.name}={cookie.value}" for cookie in self.cookies if cookie.name == "agentgazer_login"]
            self.answers.append((url, "; ".join(cookies)))
        return super().redirect_request(request, file, code, message, headers, url)

    def open(self, url: str, form: dict | None = None) -> tuple[int, str, str]:
        """The status, the address and the text of the page that the browser ends on."""
        data = None if form is None else urllib.parse.urlencode(form).encode()
        headers = {"origin": "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(url))} if form is not None else {}
        try:
            with self.browser.open(urllib.request.Request(url, data, headers)) as page:
                return page.status, page.url, page.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.url, error.read().decode()

    def log_in(self, server) -> tuple[int, str, str]:
        status, url, page = self.open(f"{server.dashboard}/login/oidc?next=/agents")
        for _ in range(2):
            if "/interaction/" not in url:
                break
            prompt = re.search(r'name="prompt" value="(\w+)"', page)[1]
            action = re.search(r'action="([^"]+)"', page)[1]
            form = {"prompt": prompt, "login": self.name, "password": "any"}
            status, url, page = self.open(urllib.parse.urljoin(url, action), form)
        return status, url, page

    def has_session(self) -> bool:
        return any(cookie.name == "agentgazer_session" for cookie in self.cookies)


def audit_row(server, action: str, why: str | None = None) -> dict:
    """The row of a login in the audit log, which is written after the answer."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while True:
        rows = server.api("GET", f"/api/audit?action={action}")["items"]
        for row in rows:
            if why is None or row["after"]["why"] == why:
                return row
        assert time.monotonic() < end, rows
        time.sleep(0.1)


def test_a_person_logs_in_with_the_role_of_a_group(server):
    ann = Person("ann")
    status, url, _ = ann.log_in(server)
    assert (status, url) == (200, f"{server.dashboard}/agents")
    assert ann.open(f"{server.dashboard}/settings/people")[0] == 403
    opened = audit_row(server, "session.open")["actor"]
    assert (opened["id"], opened["name"], opened["role"]) == ("oidc:ann", "ann@example", "operator")
    ann.open(f"{server.dashboard}/logout", {})
    assert ann.open(f"{server.dashboard}/agents")[1].startswith(f"{server.dashboard}/login")


def test_a_person_without_a_role_gets_no_session(server):
    ben = Person("ben")
    status, _, page = ben.log_in(server)
    assert status == 403 and "none of your groups has a role here" in page
    assert not ben.has_session()


def test_the_provider_refuses_a_code_that_was_used(server):
    ann = Person("ann")
    assert ann.log_in(server)[0] == 200
    url, cookie = ann.answers[0]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(url, headers={"cookie": cookie}))
    assert refused.value.code == 401
    audit_row(server, "session.refuse", "code")
