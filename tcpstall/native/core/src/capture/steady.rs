//! A file that must not change under the reader: what it gives then is half of one capture and half of another.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::time::SystemTime;

/// A regular file as it was when it was opened.
///
/// It is looked at again where it ends. One that has grown is a capture that is still being written: what was read of it
/// stands.
pub(super) struct Steady {
    file: File,
    size: u64,
    /// `None` where the file system keeps no such time.
    modified: Option<SystemTime>,
    read: u64,
}

impl Steady {
    pub(super) fn new(file: File, about: &Metadata) -> Steady {
        Steady { file, size: about.len(), modified: about.modified().ok(), read: 0 }
    }

    #[cold]
    fn check(&self) -> io::Result<()> {
        let now = self.file.metadata()?;
        let (before, size) = (self.size.max(self.read), now.len());
        if size < before {
            return Err(io::Error::other(format!("the file shrank from {before} to {size} bytes while it was read")));
        }
        if size == self.size && now.modified().ok() != self.modified {
            return Err(io::Error::other("the file was written to while it was read; copy it, then read the copy"));
        }
        Ok(())
    }
}

impl Read for Steady {
    #[inline]
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(to)?;
        self.read += count as u64;
        if count == 0 && !to.is_empty() {
            self.check()?;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    /// Reads four of eight bytes, lets `change` have the file, and reads on.
    fn rest(name: &str, change: impl FnOnce(&mut File)) -> Result<usize, String> {
        let path: PathBuf = std::env::temp_dir().join(format!("tcpstall-steady-{name}-{}", std::process::id()));
        fs::write(&path, b"abcdefgh").unwrap();
        let file = File::open(&path).unwrap();
        let about = file.metadata().unwrap();
        let mut steady = Steady::new(file, &about);
        assert_eq!(steady.read(&mut [0; 4]).unwrap(), 4);
        change(&mut OpenOptions::new().append(true).open(&path).unwrap());
        fs::remove_file(&path).unwrap();
        steady.read_to_end(&mut Vec::new()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_that_stays_as_it_is_is_read_to_its_end() {
        assert_eq!(rest("stays", |_| {}), Ok(4));
    }

    #[test]
    fn a_file_that_shrinks_says_so() {
        let shrank = Err("the file shrank from 8 to 2 bytes while it was read".into());
        assert_eq!(rest("shrinks", |file| file.set_len(2).unwrap()), shrank);
    }

    #[test]
    fn a_file_that_is_written_over_says_so() {
        let later = |file: &mut File| {
            let modified = file.metadata().unwrap().modified().unwrap();
            file.set_modified(modified + Duration::from_secs(1)).unwrap();
        };
        assert!(rest("changes", later).is_err_and(|error| error.starts_with("the file was written to")));
    }

    #[test]
    fn a_capture_that_is_still_being_written_may_grow() {
        assert_eq!(rest("grows", |file| file.write_all(b"ij").unwrap()), Ok(6));
    }
}
