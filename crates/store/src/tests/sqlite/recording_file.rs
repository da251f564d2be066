//! The file with what recorded agents asked and were answered.

use model::{AgentId, CallId, KeptBody, KeptCall, KeptResponse, Timestamp};

use crate::{EvidenceBody, RecordingFile};

fn call(millis: i64) -> KeptCall {
    let body = vec![b'x'; 1000];
    let compressed = zstd::bulk::compress(&body, 1).unwrap();
    KeptCall {
        call: CallId::at(Timestamp::from_millis(millis)),
        time: Timestamp::from_millis(millis),
        dialect: "messages".to_owned(),
        request: KeptBody { bytes: compressed, unpacked_length: Some(1000) },
        response: None,
    }
}

#[tokio::test]
async fn recordings_survive_a_round_trip_and_are_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let file = RecordingFile::open(directory.path()).await.unwrap();
    let (one, other) = (AgentId::parse("one").unwrap(), AgentId::parse("other").unwrap());
    let mut calls: Vec<KeptCall> = (1..=4).map(|day| call(day * 1000)).collect();
    file.write(&[(one.clone(), calls[0].clone())]).await.unwrap();
    assert_eq!(file.bodies(calls[0].call).await.unwrap(), Some((true, false)));
    let response = KeptBody { bytes: b"yes".to_vec(), unpacked_length: None };
    calls[0].response = Some(KeptResponse { body: response, content_type: None, cut: false });
    let all: Vec<_> = calls.iter().map(|call| (one.clone(), call.clone())).collect();
    file.write(&all[..3]).await.unwrap();
    file.write(&[(other.clone(), calls[3].clone())]).await.unwrap();

    assert_eq!(file.bodies(calls[0].call).await.unwrap(), Some((true, true)));
    assert_eq!(file.body(calls[0].call, EvidenceBody::Request).await.unwrap(), Some(vec![b'x'; 1000]));
    assert_eq!(file.body(calls[0].call, EvidenceBody::Response).await.unwrap(), Some(b"yes".to_vec()));
    assert_eq!(file.body(calls[1].call, EvidenceBody::Response).await.unwrap(), None);

    file.expire(Timestamp::from_millis(2000), u64::MAX).await.unwrap();
    assert_eq!(file.bodies(calls[0].call).await.unwrap(), None, "the first is too old");
    file.delete_agent(&one).await.unwrap();
    assert_eq!(file.agents().await.unwrap(), [other]);
    file.expire(Timestamp::default(), 1).await.unwrap();
    assert!(file.agents().await.unwrap().is_empty(), "nothing fits");
}

#[tokio::test]
async fn deleted_recording_file_is_noticed_and_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("recordings.db");
    let (file, agent) = (RecordingFile::open(directory.path()).await.unwrap(), AgentId::parse("one").unwrap());
    let calls = [call(1000), call(2000)];
    file.write(&[(agent.clone(), calls[0].clone())]).await.unwrap();
    assert_eq!(file.reopen_if_lost().await.unwrap(), None);
    let shown = file.clone();
    std::fs::remove_file(&path).unwrap();
    let loss = "recordings.db was deleted while the server was running";
    assert_eq!(file.reopen_if_lost().await.unwrap().as_deref(), Some(loss));
    assert_eq!(file.reopen_if_lost().await.unwrap(), None);
    file.write(&[(agent, calls[1].clone())]).await.unwrap();
    assert_eq!(shown.bodies(calls[0].call).await.unwrap(), None);
    assert_eq!(shown.bodies(calls[1].call).await.unwrap(), Some((true, false)));
    file.close().await;

    let file = RecordingFile::open(directory.path()).await.unwrap();
    assert_eq!(file.bodies(calls[1].call).await.unwrap(), Some((true, false)));
}
