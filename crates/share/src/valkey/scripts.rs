//! The scripts, each with the functions that all of them share.

use redis::Script;

/// The scripts by operation.
pub(super) struct Scripts {
    pub(super) admit: Script,
    pub(super) settle: Script,
    pub(super) kill: Script,
    pub(super) open: Script,
    pub(super) touch: Script,
    pub(super) touch_access: Script,
    pub(super) append: Script,
    pub(super) log: Script,
}

impl Scripts {
    pub(super) fn new() -> Scripts {
        Scripts {
            admit: Script::new(concat!(include_str!("prelude.lua"), include_str!("admit.lua"))),
            settle: Script::new(concat!(include_str!("prelude.lua"), include_str!("settle.lua"))),
            kill: Script::new(concat!(include_str!("prelude.lua"), include_str!("kill.lua"))),
            open: Script::new(concat!(include_str!("prelude.lua"), include_str!("open.lua"))),
            touch: Script::new(concat!(include_str!("prelude.lua"), include_str!("touch.lua"))),
            touch_access: Script::new(concat!(include_str!("prelude.lua"), include_str!("touch_access.lua"))),
            append: Script::new(concat!(include_str!("prelude.lua"), include_str!("append.lua"))),
            log: Script::new(include_str!("log.lua")),
        }
    }
}
