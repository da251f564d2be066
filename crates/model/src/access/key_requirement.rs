//! Whether calls need an agent key.

/// When calls need an agent key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RequireKey {
    /// While other machines can reach the proxy and a provider key is stored.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl RequireKey {
    /// Its name in the configuration.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<RequireKey> {
        word.parse().ok()
    }
}

/// Whether calls need an agent key, as configured. The default is that of a single machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyRequirement {
    /// When calls need a key.
    pub require: RequireKey,
    /// Whether other machines can reach the proxy, themselves or through a reverse proxy.
    pub is_exposed: bool,
    /// Whether everyone who reaches the proxy may use the stored provider keys.
    pub allow_open_relay: bool,
}

impl KeyRequirement {
    /// Whether a call needs a key. `is_relayed` says whether it came through a reverse proxy, which
    /// may serve other machines although this one is not configured for it; `has_provider_key` says
    /// whether any provider key is stored.
    pub fn requires_key(&self, is_relayed: impl FnOnce() -> bool, has_provider_key: impl FnOnce() -> bool) -> bool {
        match self.require {
            RequireKey::Auto => (self.is_exposed || is_relayed()) && has_provider_key(),
            RequireKey::Always => true,
            RequireKey::Never => false,
        }
    }

    /// Whether everyone who reaches the proxy could use a stored provider key although no one has
    /// allowed it.
    pub fn refuses_provider_keys(&self) -> bool {
        self.require == RequireKey::Never && self.is_exposed && !self.allow_open_relay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_requires_a_key_only_beyond_loopback_with_a_stored_provider_key() {
        for (require, is_exposed, is_relayed, has_provider_key, expected) in [
            (RequireKey::Auto, false, false, false, false),
            (RequireKey::Auto, false, false, true, false),
            (RequireKey::Auto, false, true, false, false),
            (RequireKey::Auto, false, true, true, true),
            (RequireKey::Auto, true, false, false, false),
            (RequireKey::Auto, true, false, true, true),
            (RequireKey::Always, false, false, false, true),
            (RequireKey::Never, true, true, true, false),
        ] {
            let requirement = KeyRequirement { require, is_exposed, allow_open_relay: false };
            let requires_key = requirement.requires_key(|| is_relayed, || has_provider_key);
            assert_eq!(requires_key, expected, "{requirement:?} {is_relayed}");
            assert_eq!(RequireKey::parse(require.as_str()), Some(require));
        }
    }
}
