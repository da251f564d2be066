//! Password hashes: argon2id, on blocking threads and only a few at a time, because each takes 19
//! MiB and tens of milliseconds.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use tokio::sync::{OnceCell, Semaphore};

/// How many passwords are hashed at the same time. Others wait.
const AT_ONCE: usize = 2;

#[derive(Debug)]
pub(crate) struct Hashing {
    places: Arc<Semaphore>,
    /// A hash that no password matches: checking against it takes as long as against a real one.
    unmatched: OnceCell<String>,
}

impl Default for Hashing {
    fn default() -> Self {
        Hashing { places: Arc::new(Semaphore::new(AT_ONCE)), unmatched: OnceCell::new() }
    }
}

impl Hashing {
    /// The hash of `password` in PHC form.
    pub(crate) async fn hash(&self, password: &str) -> Result<String, String> {
        let password = password.to_owned();
        self.run(move || {
            let hashed = Argon2::default().hash_password(password.as_bytes());
            hashed.map(|hash| hash.to_string()).map_err(|error| error.to_string())
        })
        .await?
    }

    /// Whether `password` matches `hash`. Without a hash it is false, after the same time.
    pub(crate) async fn verify(&self, password: &str, hash: Option<String>) -> bool {
        let has_hash = hash.is_some();
        let hash = match hash {
            Some(hash) => hash,
            None => {
                self.unmatched.get_or_init(|| async { self.hash("nobody").await.unwrap_or_default() }).await.clone()
            }
        };
        let password = password.to_owned();
        let verified = self.run(move || {
            let parsed = PasswordHash::new(&hash);
            parsed.is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
        });
        verified.await.unwrap_or(false) && has_hash
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|error| error.to_string())?;
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        });
        done.await.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;

    #[tokio::test]
    async fn only_the_right_password_matches_and_a_missing_hash_never_does() {
        let hashing = Hashing::default();
        let hash = hashing.hash("correct horse battery").await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_ne!(hash, hashing.hash("correct horse battery").await.unwrap(), "each has its own salt");
        assert!(hashing.verify("correct horse battery", Some(hash.clone())).await);
        assert!(!hashing.verify("correct horse", Some(hash)).await);
        assert!(!hashing.verify("nobody", None).await);
        assert!(!hashing.verify("", Some("damaged".to_owned())).await);
    }
}
