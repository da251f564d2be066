//! Undoes the last action, if that is possible: a form in the notice that reports the action. An
//! action redirects back with the parameters `done` and, where needed, `undo`.

use model::{ChannelId, KillSwitch, RuleId};

/// The form that undoes an action.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pages) struct Undo {
    pub(in crate::pages) action: String,
    pub(in crate::pages) fields: Vec<(&'static str, String)>,
}

/// The settings before a change, as the query carries them.
pub(in crate::pages) fn settings_before(settings: KillSwitch) -> String {
    let KillSwitch { enabled, window_size, threshold, action, counting } = settings;
    let switch = if enabled { "on" } else { "off" };
    format!("{switch},{window_size},{threshold},{},{}", action.as_str(), counting.as_str())
}

/// The form that undoes `done` on the page at `path`. It is always one of our own forms and does
/// only what its button says, because anyone can write the query.
pub(in crate::pages) fn of(path: &str, done: &str, query: &str) -> Option<Undo> {
    let given = query.split('&').find_map(|pair| pair.strip_prefix("undo=")).unwrap_or_default();
    let is_agent = path.starts_with("/agents/");
    match done {
        "deactivated" if is_agent => Some(Undo { action: format!("{path}/activate"), fields: Vec::new() }),
        "saved" | "saved-off" | "switched-on" | "switched-off" if is_agent => settings(path, given),
        "channel-on" | "channel-off" => {
            let id = ChannelId::parse(given)?;
            Some(switch(format!("/alerts/channels/{id}/switch"), done == "channel-off"))
        }
        "rule-on" | "rule-off" => {
            let id = RuleId::parse(given)?;
            Some(switch(format!("/alerts/rules/{id}/switch"), done == "rule-off"))
        }
        _ => None,
    }
}

fn switch(action: String, enabled: bool) -> Undo {
    Undo { action, fields: vec![("enabled", enabled.to_string())] }
}

/// The form that restores the settings of an agent's kill switch.
fn settings(path: &str, before: &str) -> Option<Undo> {
    let [enabled, window_size, threshold, action, counting] = before.split(',').collect::<Vec<_>>().try_into().ok()?;
    let mut fields = vec![
        ("window_size", window_size.to_owned()),
        ("threshold", threshold.to_owned()),
        ("action", action.to_owned()),
        ("counting", counting.to_owned()),
    ];
    if enabled == "on" {
        // It was on before, so no confirmation is needed.
        fields.extend([("enabled", "on".to_owned()), ("anyway", "yes".to_owned())]);
    }
    Some(Undo { action: format!("{path}/kill-switch"), fields })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn action_is_undone_by_a_form_of_ours() {
        let check = |path: &str, done: &str, query: &str, expected: &str| {
            let undo = of(path, done, query).map(|undo| {
                let fields: Vec<_> = undo.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("{} {}", undo.action, fields.join("&"))
            });
            assert_eq!(undo.unwrap_or_default(), expected, "{path} {done} {query}");
        };
        let id = "01a1e113-cde6-7655-bec5-72125b2b0e22";
        check("/agents/a", "deactivated", "done=deactivated", "/agents/a/activate ");
        let before =
            format!("done=saved&undo={}", settings_before(KillSwitch { enabled: true, ..KillSwitch::default() }));
        let form = "window_size=20&threshold=10&action=deactivate&counting=adaptive&enabled=on&anyway=yes";
        check("/agents/a", "saved", &before, &format!("/agents/a/kill-switch {form}"));
        check("/alerts", "rule-off", &format!("undo={id}"), &format!("/alerts/rules/{id}/switch enabled=true"));
        check("/alerts", "channel-on", &format!("undo={id}"), &format!("/alerts/channels/{id}/switch enabled=false"));
        for (path, done, query) in [
            ("/agents/a", "activated", ""),
            ("/agents/a", "saved", "undo=on,20"),
            ("/incidents/x", "deactivated", ""),
            ("/alerts", "rule-off", "undo=../../logout"),
        ] {
            check(path, done, query, "");
        }
    }
}
