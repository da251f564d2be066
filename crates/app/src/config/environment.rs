//! The environment as a layer: `AGENTGAZER_LIMITS_IDLE_TIMEOUT` is `limits.idle_timeout`.

use super::layer::{Entry, Origin};
use super::setting::{SETTINGS, Shape};

const PREFIX: &str = "AGENTGAZER_";

/// Variables with our prefix that are not settings: they locate the settings or the server.
const OTHERS: [&str; 3] = ["AGENTGAZER_CONFIG", "AGENTGAZER_URL", "AGENTGAZER_CA"];

/// The settings in `variables`, and unknown names with our prefix. Unknown names are not mistakes,
/// unlike unknown keys of our own file: the environment is shared, and images and scripts add names
/// to it.
pub(super) fn layer(variables: impl IntoIterator<Item = (String, String)>) -> (Vec<Entry>, Vec<String>) {
    let (mut entries, mut unknown) = (Vec::new(), Vec::new());
    for (name, value) in variables {
        let Some(suffix) = name.strip_prefix(PREFIX) else { continue };
        if OTHERS.contains(&name.as_str()) || is_service_link(suffix, &value) {
            continue;
        }
        let origin = Origin::Environment(name.clone());
        match SETTINGS.iter().find(|setting| variable_suffix(setting.key) == suffix) {
            Some(setting) => entries.extend(split(setting.shape, &value).map(|values| Entry {
                key: setting.key.to_owned(),
                values,
                origin: origin.clone(),
            })),
            None => unknown.push(name),
        }
    }
    (entries, unknown)
}

/// `limits.idle_timeout` → `LIMITS_IDLE_TIMEOUT`.
fn variable_suffix(key: &str) -> String {
    key.replace('.', "_").to_uppercase()
}

/// Lists are separated by commas: one entry with all values, or one entry each.
fn split(shape: Shape, value: &str) -> std::vec::IntoIter<Vec<String>> {
    let entries: Vec<Vec<String>> = match shape {
        Shape::One => vec![vec![value.to_owned()]],
        Shape::List => vec![list_values(value)],
        Shape::Repeated => list_values(value).into_iter().map(|part| vec![part]).collect(),
    };
    entries.into_iter()
}

/// The values of a list in one text.
pub(super) fn list_values(text: &str) -> Vec<String> {
    text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Kubernetes sets `AGENTGAZER_PORT=tcp://…` and more in every pod beside a service named
/// `agentgazer`.
fn is_service_link(suffix: &str, value: &str) -> bool {
    let address = suffix == "PORT" && value.contains("://");
    address || suffix.starts_with("PORT_") || suffix.starts_with("SERVICE_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_environment_variables_are_reported() {
        let variables = [
            ("HOME", "/root"),
            ("AGENTGAZER_URL", "http://127.0.0.1:1"),
            ("AGENTGAZER_PORT", "tcp://10.0.0.1:80"),
            ("AGENTGAZER_SERVICE_HOST", "10.0.0.1"),
            ("AGENTGAZER_LIMITS_IDLE_TIMEOUT", "9s"),
            ("AGENTGAZER_ALLOW_HOSTS", "a.test, b.test"),
            ("AGENTGAZER_PROVIDERS", "a=openai+http://a,b=openai+http://b"),
            ("AGENTGAZER_PROXYPORT", "1"),
        ];
        let (entries, unknown) = layer(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let entries: Vec<_> = entries.iter().map(|entry| (entry.key.as_str(), entry.values.join("|"))).collect();
        assert_eq!(
            entries,
            [
                ("limits.idle_timeout", "9s".to_owned()),
                ("allow_hosts", "a.test|b.test".to_owned()),
                ("providers", "a=openai+http://a".to_owned()),
                ("providers", "b=openai+http://b".to_owned()),
            ]
        );
        assert_eq!(unknown, ["AGENTGAZER_PROXYPORT"]);
    }
}
