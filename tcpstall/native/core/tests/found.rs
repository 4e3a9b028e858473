//! What the fuzzers found, once mended: every capture in `found/` keeps what any report promises, and no sum runs over.

// The same checks as the fuzzers', here without them.
#[path = "../fuzz/src/promises.rs"]
mod promises;
#[expect(unreachable_pub, reason = "there it is a library's")]
#[path = "../fuzz/src/trip.rs"]
mod trip;

use std::path::PathBuf;

#[test]
fn what_was_found_once_stays_mended() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/found");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    assert!(!found.is_empty());
    for path in found {
        println!("{}", path.display());
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(trip::taken(&bytes, usize::MAX), trip::taken(&bytes, 7));
        trip::analyse(&bytes);
    }
}
