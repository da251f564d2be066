//! The file with the bodies of the calls in the windows.

use model::{CallId, KeptBody, KeptCall, KeptCalls, KeptResponse, Timestamp};

use crate::EvidenceFile;

fn call(fill: u8) -> KeptCall {
    KeptCall {
        call: CallId::new(),
        time: Timestamp::from_millis(i64::from(fill)),
        dialect: "messages".to_owned(),
        request: KeptBody { bytes: vec![fill; 100], unpacked_length: Some(1000) },
        response: None,
    }
}

fn changed(calls: &[KeptCall]) -> KeptCalls {
    KeptCalls { changed: calls.to_vec(), gone: Vec::new() }
}

#[tokio::test]
async fn bodies_survive_a_restart_newest_first() {
    let directory = tempfile::tempdir().unwrap();
    let file = EvidenceFile::open(directory.path()).await.unwrap();
    let mut calls: Vec<KeptCall> = (0..4).map(call).collect();
    file.write(&changed(&calls)).await.unwrap();
    calls[3].response = Some(KeptResponse {
        body: KeptBody { bytes: b"yes".to_vec(), unpacked_length: None },
        content_type: Some("application/json".to_owned()),
        cut: true,
    });
    file.write(&KeptCalls { changed: vec![calls[3].clone()], gone: vec![calls[0].call] }).await.unwrap();
    file.close().await;

    let file = EvidenceFile::open(directory.path()).await.unwrap();
    assert_eq!(file.calls().await.unwrap(), [calls[3].call, calls[2].call, calls[1].call]);
    let wanted = [calls[0].call, calls[1].call, calls[3].call];
    assert_eq!(file.read(&wanted).await.unwrap(), [calls[3].clone(), calls[1].clone()]);
}

#[tokio::test]
async fn unreadable_evidence_file_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("evidence.db"), "this is no database, and long enough to be taken for one")
        .unwrap();
    let file = EvidenceFile::open(directory.path()).await.unwrap();
    file.write(&changed(&[call(1)])).await.unwrap();
    assert_eq!(file.calls().await.unwrap().len(), 1);
    file.close().await;
    EvidenceFile::delete(directory.path()).unwrap();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn deleted_evidence_file_is_noticed_and_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("evidence.db");
    let file = EvidenceFile::open(directory.path()).await.unwrap();
    file.write(&changed(&[call(1)])).await.unwrap();
    assert_eq!(file.loss(), None);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(file.loss().as_deref(), Some("evidence.db was deleted while the server was running"));
    let file = file.replace(directory.path()).await.unwrap();
    assert_eq!((file.loss(), file.calls().await.unwrap().len()), (None, 0));
    file.write(&changed(&[call(2)])).await.unwrap();
    file.close().await;

    let file = EvidenceFile::open(directory.path()).await.unwrap();
    assert_eq!(file.calls().await.unwrap().len(), 1, "what was written after the loss is there");
}
