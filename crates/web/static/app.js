// Makes a page live. Without this everything still works: every action is a form, every page a link.

import { enhance } from "./act.js";
import { follow } from "./live.js";
import { localise, tellOffset } from "./local.js";
import { enhanceSearch } from "./search.js";
import { enhanceWhatIf } from "./what_if.js";

tellOffset();
localise(document);
enhance();
enhanceWhatIf();
enhanceSearch();
follow();
