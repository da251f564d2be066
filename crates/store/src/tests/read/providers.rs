use super::*;
use model::{Format, Provider};
use secrecy::{ExposeSecret, SecretString};

const CANARY: &str = "sk-canary-0123456789abcdefghijklmnop";

fn provider(name: &str, key: Option<&str>) -> Provider {
    let provider = Provider::new(name, "https://api.example.com/v1", Format::Openai).unwrap();
    Provider { key: key.map(SecretString::from), ..provider }
}

async fn put(fixture: &Fixture, provider: Provider) {
    fixture.change(Change::PutProvider { provider }).await.unwrap();
}

async fn key(fixture: &Fixture, name: &str) -> Option<String> {
    let providers = fixture.store.providers().await.unwrap();
    let provider = providers.into_iter().find(|provider| provider.name == name).unwrap();
    provider.key.map(|key| key.expose_secret().to_owned())
}

#[tokio::test]
async fn provider_keeps_its_key_until_it_is_replaced() {
    let fixture = Fixture::new().await;
    put(&fixture, provider("openai", Some("first"))).await;
    put(&fixture, provider("openai", None)).await;
    assert_eq!(key(&fixture, "openai").await.as_deref(), Some("first"));
    put(&fixture, provider("openai", Some("second"))).await;
    let fixture = fixture.restart().await;
    assert_eq!(key(&fixture, "openai").await.as_deref(), Some("second"));

    fixture.change(Change::RemoveProvider { name: "openai".to_owned() }).await.unwrap();
    assert!(fixture.store.providers().await.unwrap().is_empty());
    put(&fixture, provider("openai", None)).await;
    assert_eq!(key(&fixture, "openai").await, None, "the key went with the provider");
}

#[tokio::test]
async fn provider_key_is_in_no_file_and_no_log() {
    let fixture = Fixture::new().await;
    put(&fixture, provider("openai", Some(CANARY))).await;
    let check = |directory: &std::path::Path| {
        for file in std::fs::read_dir(directory).unwrap() {
            let path = file.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes.windows(12).any(|window| CANARY.as_bytes().windows(12).any(|part| part == window));
            assert!(!found, "{}", path.display());
        }
    };
    check(&fixture.directory.path().join("data"));
    let fixture = fixture.restart().await;
    check(&fixture.directory.path().join("data"));
    assert_eq!(key(&fixture, "openai").await.as_deref(), Some(CANARY));

    let change = Change::PutProvider { provider: provider("openai", Some(CANARY)) };
    for debug in [format!("{change:?}"), format!("{:?}", fixture.store), format!("{:?}", fixture.recorder)] {
        assert!(!debug.contains("canary"), "{debug}");
    }
}

#[tokio::test]
async fn another_key_file_loses_only_provider_keys() {
    let fixture = Fixture::new().await;
    put(&fixture, provider("keyed", Some(CANARY))).await;
    put(&fixture, provider("plain", None)).await;
    let key_file = fixture.directory.path().join("key");
    let kept = std::fs::read(&key_file).unwrap();
    std::fs::remove_file(&key_file).unwrap();

    let fixture = fixture.restart().await;
    let lost: Vec<_> =
        fixture.store.providers().await.unwrap().into_iter().map(|it| (it.name, it.key_is_lost)).collect();
    assert_eq!(lost, [("keyed".to_owned(), true), ("plain".to_owned(), false)]);
    assert_eq!(key(&fixture, "keyed").await, None);
    assert_eq!(key(&fixture, "plain").await, None);
    put(&fixture, provider("plain", Some("new"))).await;
    assert_eq!(key(&fixture, "plain").await.as_deref(), Some("new"));

    std::fs::write(&key_file, kept).unwrap();
    let fixture = fixture.restart().await;
    assert_eq!(key(&fixture, "keyed").await.as_deref(), Some(CANARY));
}

#[tokio::test]
async fn a_key_is_bound_to_its_provider() {
    let fixture = Fixture::new().await;
    let sealed = fixture.store.keys.seal("openai", &SecretString::from(CANARY)).unwrap();
    assert!(fixture.store.keys.open_sealed("openai", &sealed).is_ok());
    let refused = fixture.store.keys.open_sealed("anthropic", &sealed).unwrap_err().to_string();
    assert!(refused.contains("anthropic") && refused.contains("is damaged"), "{refused}");
}
