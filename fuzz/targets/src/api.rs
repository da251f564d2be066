//! Bodies that change a setting through the API.

use model::{KillSwitch, KillSwitchChange, Policy, PolicyChange};

/// A change is refused, or its result is valid: it can be written, read back and applied again
/// without a difference.
pub(crate) fn api_body(input: &[u8]) {
    if let Ok(change) = serde_json::from_slice::<KillSwitchChange>(input)
        && let Ok(changed) = change.apply(KillSwitch::default())
    {
        assert!((2..=500).contains(&changed.window_size) && changed.threshold > 0.0 && changed.threshold <= 10_000.0);
        let written = serde_json::to_vec(&changed).expect("settings can be written");
        assert_eq!(serde_json::from_slice::<KillSwitch>(&written).expect("settings can be read"), changed);
    }
    if let Ok(change) = serde_json::from_slice::<PolicyChange>(input)
        && let Ok(changed) = change.clone().apply(&Policy::default())
    {
        let again = change.apply(&changed).expect("a valid change is valid again");
        assert_eq!(again, changed);
    }
}
