//! The providers that are known without configuration.

use model::{Format, Provider};

/// The built-in providers.
pub fn builtin_providers() -> Vec<Provider> {
    todo!()
}

/// The path of a provider's chat endpoint below its base URL, for calls that name only the provider.
pub fn chat_path(provider: &str, format: Format) -> &'static str {
    let _ = (provider, format);
    todo!()
}
