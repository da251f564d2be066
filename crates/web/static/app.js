// Makes a page live. Without this everything still works: every action is a form, every page a link.

import { enhance } from "./act.js";
import { follow } from "./live.js";
import { localise, tellOffset } from "./local.js";
import { offerNotifications } from "./notify.js";
import { enhanceSearch } from "./search.js";
import { enhanceWhatIf } from "./what_if.js";

// A login link that is opened with a session leads here: the token must not stay in the address bar.
if (location.hash.startsWith("#token=")) history.replaceState(null, "", location.pathname + location.search);
tellOffset();
localise(document);
enhance();
enhanceWhatIf();
enhanceSearch();
offerNotifications();
follow();
