//! Valkey with TLS, with users and passwords.

use secrecy::SecretString;
use share::{Share, Valkey, ValkeyServer};

use crate::redis_server::{RedisServer, free_port};

async fn works(server: &ValkeyServer) -> Result<(), String> {
    let share = Share::Valkey(Box::new(Valkey::connect(server).await.map_err(|error| error.to_string())?));
    share.beat(model::shared_log::ReplicaId::new()).await.map(drop).map_err(|error| error.to_string())
}

fn at(url: String) -> ValkeyServer {
    ValkeyServer::new(url.into())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificate_of_the_server_is_verified() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["certificate", "key"].map(|name| folder.path().join(name));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (port, [certificate, key]) = (free_port(), [certificate, key].map(|path| path.display().to_string()));
    let number = port.to_string();
    let files = ["--tls-cert-file", &certificate, "--tls-key-file", &key, "--tls-auth-clients", "no"];
    let _redis = RedisServer::start_with(port, &[&["--port", "0", "--tls-port", &number], &files[..]].concat());
    let signed_by = |pem: String, host: &str| ValkeyServer {
        authorities: Some(pem.into_bytes()),
        ..at(format!("valkeys://{host}:{port}"))
    };
    works(&signed_by(made.cert.pem(), "127.0.0.1")).await.unwrap();
    works(&signed_by(other.cert.pem(), "127.0.0.1")).await.expect_err("another authority");
    works(&signed_by(made.cert.pem(), "localhost")).await.expect_err("another name");
    works(&at(format!("rediss://127.0.0.1:{port}"))).await.expect_err("an authority that is not trusted");
    works(&at(format!("redis://127.0.0.1:{port}"))).await.expect_err("without TLS");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_and_passwords_are_asked_for() {
    let port = free_port();
    let number = port.to_string();
    let user = ["--user", "gazer", "on", ">s3cret", "~ag:*", "&ag:*", "+@all", "-@dangerous", "+info"];
    let options = [&["--port", &number, "--requirepass", "first"], &user[..]].concat();
    let _redis = RedisServer::start_with(port, &options);
    works(&at(format!("redis://127.0.0.1:{port}"))).await.expect_err("no password");
    works(&at(format!("redis://:first@127.0.0.1:{port}"))).await.unwrap();
    works(&at(format!("redis://gazer:s3cret@127.0.0.1:{port}"))).await.unwrap();
    works(&at(format!("redis://gazer:wrong@127.0.0.1:{port}"))).await.expect_err("a wrong password");
    let password = Some(SecretString::from("s3cret"));
    works(&ValkeyServer { password, ..at(format!("redis://gazer@127.0.0.1:{port}")) }).await.unwrap();
}
