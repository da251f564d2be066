use super::*;

#[tokio::test]
async fn long_write_ahead_log_is_checkpointed_and_restarts() {
    let tuning = Tuning { longest_log: 1 << 20, log_interval: Duration::from_millis(1), ..quick() };
    let fixture = Fixture::with(tuning).await;
    let log = fixture.directory.path().join("data/agentgazer.db-wal");
    let length = || std::fs::metadata(&log).unwrap().len();
    let longer_and_shorter = async {
        let mut longest = 0;
        while length() >= longest {
            longest = length();
            fixture.record_all((0..50).map(|_| call("agent")).collect()).await;
        }
        longest
    };
    let longest = tokio::time::timeout(Duration::from_secs(60), longer_and_shorter).await.expect("it is moved");
    assert!(longest > fixture.tuning.longest_log, "moved at {longest} bytes");

    assert!(fixture.recorder.stop().await);
    assert_eq!(length(), 0, "all is in the database when the writer has ended");
}

/// Before this version, moving the log beside a writer could damage the database in a rare race.
#[tokio::test]
async fn sqlite_has_the_fix_for_checkpoints_beside_a_writer() {
    let fixture = Fixture::new().await;
    let query = sqlx::query_scalar("select sqlite_version()");
    let version: String = query.fetch_one(fixture.store.readers.sqlite()).await.unwrap();
    let numbers: Vec<u32> = version.split('.').map(|number| number.parse().unwrap()).collect();
    assert!(numbers >= vec![3, 51, 3], "{version}");
}
