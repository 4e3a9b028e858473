//! Detects a file that changes while it is read: the result would be half of one capture and half of another.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::time::SystemTime;

/// Size of one sample, bytes.
const SAMPLE: usize = 4096;
/// Samples spread over the bytes read. Beyond this number every second sample is dropped, and their distance doubles.
const SPREAD: usize = 64;
/// Initial distance of samples, bytes: the size of the capture's reads.
const APART: u64 = 256 * 1024;

/// A regular file with its state at opening.
///
/// The state is checked at the end of the file. If the file was written to, samples of the bytes read are read again
/// and compared. A file that has only grown is a capture that is still being written, so its bytes remain valid. The
/// check costs as little for a terabyte as for a megabyte: the head, the bytes read last and [`SPREAD`] places between
/// them.
pub(super) struct Steady {
    file: File,
    opened: Mark,
    /// Bytes after which nothing is read.
    most: u64,
    read: u64,
    samples: Samples,
}

/// Metadata of a file. `None` where the file system keeps no such time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    size: u64,
    modified: Option<SystemTime>,
    changed: Option<(i64, i64)>,
}

impl Mark {
    fn of(about: &Metadata) -> Mark {
        Mark { size: about.len(), modified: about.modified().ok(), changed: changed(about) }
    }
}

/// Time of the last change to anything of the file, which nobody can reset, unlike the time of its last write.
#[cfg(unix)]
fn changed(about: &Metadata) -> Option<(i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    Some((about.ctime(), about.ctime_nsec()))
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> Option<(i64, i64)> {
    None
}

impl Steady {
    pub(super) fn new(file: File, about: &Metadata) -> Steady {
        Steady { file, opened: Mark::of(about), most: u64::MAX, read: 0, samples: Samples::default() }
    }

    /// Reads so many bytes at most, however the file grows.
    pub(super) fn up_to(self, most: u64) -> Steady {
        Steady { most, ..self }
    }

    #[cold]
    fn check(&mut self) -> io::Result<()> {
        let now = Mark::of(&self.file.metadata()?);
        let before = self.opened.size.max(self.read);
        if now.size < before {
            let size = now.size;
            return Err(io::Error::other(format!("the file shrank from {before} to {size} bytes while it was read")));
        }
        if now == self.opened {
            return Ok(());
        }
        let written = (now.size, now.modified) != (self.opened.size, self.opened.modified);
        let grown = now.size > self.opened.size;
        // A new owner or name changes only the other time: then no sample differs.
        if (written && !grown) || !self.samples.stand(&mut self.file)? {
            return Err(io::Error::other("the file was written to while it was read; copy it, then read the copy"));
        }
        self.file.seek(SeekFrom::Start(self.read))?;
        Ok(())
    }
}

impl Read for Steady {
    #[inline]
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let most = to.len().min(usize::try_from(self.most - self.read).unwrap_or(usize::MAX));
        let count = self.file.read(&mut to[..most])?;
        self.samples.keep(self.read, &to[..count]);
        self.read += count as u64;
        if count == 0 && !to.is_empty() {
            self.check()?;
        }
        Ok(count)
    }
}

/// Offset and content of bytes that were read.
type Sample = (u64, Vec<u8>);

/// Samples of the bytes read, to be compared with the file at the end.
#[derive(Default)]
struct Samples {
    spread: Vec<Sample>,
    /// Offset from which the next sample is taken.
    next: u64,
    apart: u64,
    last: Sample,
}

impl Samples {
    /// Takes in `bytes` that were read at `offset`.
    fn keep(&mut self, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if offset >= self.next {
            self.add(offset, bytes);
        }
        let tail = bytes.len().saturating_sub(SAMPLE);
        self.last.0 = offset + tail as u64;
        self.last.1.clear();
        self.last.1.extend_from_slice(&bytes[tail..]);
    }

    #[cold]
    fn add(&mut self, offset: u64, bytes: &[u8]) {
        if self.spread.len() == SPREAD {
            let mut number = 0;
            self.spread.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.apart *= 2;
        }
        self.apart = self.apart.max(APART);
        self.next = offset + self.apart;
        self.spread.push((offset, bytes[..bytes.len().min(SAMPLE)].to_vec()));
    }

    /// True if the file still holds all samples.
    fn stand(&self, file: &mut File) -> io::Result<bool> {
        let mut now = Vec::with_capacity(SAMPLE);
        for (offset, bytes) in self.spread.iter().chain([&self.last]) {
            file.seek(SeekFrom::Start(*offset))?;
            now.clear();
            file.by_ref().take(bytes.len() as u64).read_to_end(&mut now)?;
            if now != *bytes {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    const WRITTEN: &str = "the file was written to";

    /// Reads half of a file of `size` bytes, lets `change` modify the file, and reads on: returns the number of bytes,
    /// or the error.
    fn rest_of(size: usize, name: &str, change: impl FnOnce(&mut File)) -> Result<usize, String> {
        let path: PathBuf = std::env::temp_dir().join(format!("tcpstall-steady-{name}-{}", std::process::id()));
        fs::write(&path, vec![b'a'; size]).unwrap();
        let file = File::open(&path).unwrap();
        let about = file.metadata().unwrap();
        let mut steady = Steady::new(file, &about);
        let mut half = vec![0; size / 2];
        half.chunks_mut(APART as usize).for_each(|part| steady.read_exact(part).unwrap());
        // The clock of a file system may not advance for some milliseconds.
        std::thread::sleep(Duration::from_millis(20));
        change(&mut OpenOptions::new().write(true).open(&path).unwrap());
        fs::remove_file(&path).unwrap();
        steady.read_to_end(&mut Vec::new()).map_err(|error| error.to_string())
    }

    fn rest(name: &str, change: impl FnOnce(&mut File)) -> Result<usize, String> {
        rest_of(8, name, change)
    }

    fn write_at(file: &mut File, offset: u64, bytes: &[u8]) {
        file.seek(SeekFrom::Start(offset)).unwrap();
        file.write_all(bytes).unwrap();
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
        assert!(rest("changes", later).is_err_and(|error| error.starts_with(WRITTEN)));
    }

    #[test]
    fn a_file_that_is_written_over_by_a_larger_one_says_so_wherever_they_differ() {
        let over = |file: &mut File| write_at(file, 0, &[b'b'; 100]);
        assert!(rest("larger", over).is_err_and(|error| error.starts_with(WRITTEN)));
        let size = 4 << 20;
        let from_a_quarter = |file: &mut File| write_at(file, 1 << 20, &vec![b'b'; size]);
        assert!(rest_of(size, "quarter", from_a_quarter).is_err_and(|error| error.starts_with(WRITTEN)));
        let emptied = |file: &mut File| {
            file.set_len(0).unwrap();
            write_at(file, 0, &vec![b'b'; 2 * size]);
        };
        assert!(rest_of(size, "emptied", emptied).is_err_and(|error| error.starts_with(WRITTEN)));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_written_over_says_so_though_its_time_is_put_back() {
        let over = |file: &mut File| {
            let modified = file.metadata().unwrap().modified().unwrap();
            write_at(file, 0, b"bcdefghi");
            file.set_modified(modified).unwrap();
        };
        assert!(rest("put-back", over).is_err_and(|error| error.starts_with(WRITTEN)));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_gets_other_permissions_is_the_same_file() {
        use std::os::unix::fs::PermissionsExt;
        let permit = |file: &mut File| file.set_permissions(fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(rest("permitted", permit), Ok(4));
    }

    #[test]
    fn a_capture_that_is_still_being_written_may_grow() {
        assert_eq!(rest("grows", |file| write_at(file, 8, b"ij")), Ok(6));
        assert_eq!(rest_of(4 << 20, "grows-long", |file| write_at(file, 4 << 20, b"ij")), Ok((2 << 20) + 2));
    }

    #[test]
    fn a_long_file_is_sampled_as_sparingly_as_a_short_one() {
        let mut samples = Samples::default();
        for read in 0..100_000 {
            samples.keep(read * APART, &[7; SAMPLE]);
        }
        assert!(samples.spread.len() <= SPREAD && samples.spread[0].0 == 0);
        let gaps = samples.spread.windows(2).map(|pair| pair[1].0 - pair[0].0);
        assert!(gaps.max().unwrap() <= 100_000 * APART * 4 / SPREAD as u64);
    }
}
