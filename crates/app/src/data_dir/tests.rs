//! The data directory on a real file system.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use super::private::PRIVATE;
use super::*;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn directory_and_token_are_private_and_the_token_stays() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("deep/data");
    let first = DataDir::open(&path).unwrap().token().unwrap();
    assert_eq!((mode(&path), mode(&path.join(TOKEN)), mode(&path.join(LOCK))), (0o700, 0o600, 0o600));
    let again = DataDir::open(&path).unwrap().token().unwrap();
    assert_eq!(first.expose_secret(), again.expose_secret());
    assert_eq!(first.expose_secret().len(), 64);
    assert_eq!(read_token(&path).unwrap().unwrap().expose_secret(), first.expose_secret());
}

#[test]
fn a_second_server_is_refused_until_the_first_is_gone() {
    let parent = tempfile::tempdir().unwrap();
    let first = DataDir::open(parent.path()).unwrap();
    let refused = DataDir::open(parent.path()).unwrap_err();
    assert!(refused.to_string().contains("another server runs on the data directory"), "{refused}");
    drop(first);
    assert!(DataDir::open(parent.path()).is_ok());
}

#[test]
fn second_server_is_refused_after_the_lock_file_was_deleted() {
    let parent = tempfile::tempdir().unwrap();
    let _first = DataDir::open(parent.path()).unwrap();
    std::fs::remove_file(parent.path().join(LOCK)).unwrap();
    let refused = DataDir::open(parent.path()).unwrap_err();
    assert!(refused.to_string().contains("another server runs on the data directory"), "{refused}");
}

#[test]
fn open_modes_of_directory_and_files_are_repaired() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("data");
    std::fs::create_dir(&path).unwrap();
    for name in PRIVATE {
        std::fs::write(path.join(name), "secret").unwrap();
        std::fs::set_permissions(path.join(name), Permissions::from_mode(0o644)).unwrap();
    }
    std::fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
    let _directory = DataDir::open(&path).unwrap();
    assert_eq!(mode(&path), 0o700);
    assert_eq!(PRIVATE.map(|name| mode(&path.join(name))), [0o600; 9]);
}

#[test]
fn shared_directory_is_refused_and_left_as_it_is() {
    let parent = tempfile::tempdir().unwrap();
    for (name, mode_before, file) in [("sticky", 0o1777, None), ("used", 0o777, Some("letter.txt"))] {
        let path = parent.path().join(name);
        std::fs::create_dir(&path).unwrap();
        file.iter().for_each(|file| std::fs::write(path.join(file), "mine").unwrap());
        std::fs::set_permissions(&path, Permissions::from_mode(mode_before)).unwrap();
        let refused = DataDir::open(&path).unwrap_err();
        assert!(refused.to_string().contains("a directory of its own"), "{refused}");
        assert_eq!(mode(&path), mode_before & 0o777);
    }
}

#[test]
fn directory_with_other_files_that_others_only_read_is_used_as_it_is() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("project");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("notes.txt"), "mine").unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    let _directory = DataDir::open(&path).unwrap();
    assert_eq!(mode(&path), 0o755);
}

#[test]
fn deleted_directory_is_claimed_again_with_its_token() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("data");
    let directory = DataDir::open(&path).unwrap();
    let token = directory.token().unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    directory.claim_again().unwrap();
    assert_eq!(read_token(&path).unwrap().unwrap().expose_secret(), token.expose_secret());
    assert!(DataDir::open(&path).unwrap_err().to_string().contains("another server"), "it is locked again");
}

#[test]
fn directory_that_another_server_has_taken_is_not_claimed() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("data");
    let first = DataDir::open(&path).unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    let _second = DataDir::open(&path).unwrap();
    let refused = first.claim_again().unwrap_err();
    assert!(refused.to_string().contains("another server"), "{refused}");
}

#[test]
fn addresses_are_found_again() {
    let parent = tempfile::tempdir().unwrap();
    let addresses = Addresses {
        proxy: "http://127.0.0.1:1".to_owned(),
        dashboard: "http://127.0.0.1:2".to_owned(),
        certificate: None,
    };
    assert_eq!(Addresses::read(parent.path()), None);
    let directory = DataDir::open(parent.path()).unwrap();
    directory.write_addresses(&addresses).unwrap();
    assert_eq!(Addresses::read(parent.path()), Some(addresses));
    directory.remove_addresses();
    assert_eq!(Addresses::read(parent.path()), None);
}
