//! Opens a long file twice, for two threads that each read all of it.

use std::fs::{self, File, Metadata};

use super::steady::Steady;
use super::{Capture, Format, Item, file};

/// Size of a file that takes much longer to read than a thread to start, bytes.
const LONG: u64 = 4 << 20;
/// Mean number of bytes kept of a packet, up to which reading is a small part of the work on it. Whole frames take two
/// threads as long as one: both wait for the memory.
const SHORT: usize = 256;
/// Items at the beginning that show the size of the records.
const LOOK: usize = 1024;

/// Two captures of the file with that name, which end at the same byte, though the file may grow; `None` if it is no long
/// file of short records.
pub(crate) fn twice(path: &str) -> Option<[Capture; 2]> {
    // A pipe is not opened here: its writer would lose its reader.
    let about = fs::metadata(&*file(path)).ok().filter(Metadata::is_file)?;
    if path == "-" || about.len() < LONG {
        return None;
    }
    let files = [opened(path)?, opened(path)?];
    let size = files.iter().map(|(_, about)| about.len()).min()?;
    let is_short = has_short_records(Capture::from_reader(Box::new(File::open(&*file(path)).ok()?)).sparing());
    is_short.then(|| files.map(|(file, about)| limited(file, &about, size)))
}

fn opened(path: &str) -> Option<(File, Metadata)> {
    let file = File::open(&*file(path)).ok()?;
    let about = file.metadata().ok().filter(Metadata::is_file)?;
    Some((file, about))
}

fn limited(file: File, about: &Metadata, size: u64) -> Capture {
    Capture { size: Some(size), ..Capture::from_reader(Box::new(Steady::new(file, about).up_to(size))) }
}

/// The capture is not compressed, and little is kept of each packet.
fn has_short_records(mut capture: Capture) -> bool {
    let (mut frames, mut bytes) = (0, 0);
    for _ in 0..LOOK {
        match &capture.next() {
            Ok(Some(Item::Frame(frame))) => (frames, bytes) = (frames + 1, bytes + frame.bytes.len()),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => break,
        }
    }
    let of_records = matches!(capture.format(), Some(Format::Pcap | Format::Pcapng));
    of_records && capture.packed.is_none() && frames > 0 && bytes / frames <= SHORT
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn made(name: &str, kept: usize, packets: usize) -> PathBuf {
        let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];
        for second in 1..=packets as u32 {
            let kept_bytes = kept as u32;
            [second, 0, kept_bytes, kept_bytes].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
            bytes.resize(bytes.len() + kept, 0);
        }
        let path = std::env::temp_dir().join(format!("tcpstall-twice-{name}-{}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        path
    }

    fn packets(mut capture: Capture) -> usize {
        std::iter::from_fn(|| matches!(capture.next(), Ok(Some(Item::Frame(_)))).then_some(())).count()
    }

    #[test]
    fn a_long_file_of_short_records_is_read_to_one_end_however_it_grows() {
        let path = made("grows", 100, 40_000);
        let [one, other] = twice(path.to_str().unwrap()).expect("two captures");
        let mut longer = fs::read(&path).unwrap();
        longer.extend_from_within(24..24 + 5 * 116);
        fs::write(&path, longer).unwrap();
        assert_eq!([one, other].map(packets), [40_000, 40_000]);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn whole_frames_short_files_and_other_content_are_read_once() {
        for (kept, count) in [(1_500, 4_000), (100, 1_000), (0, 300_000)] {
            let path = made(&format!("once-{kept}"), kept, count);
            assert_eq!(twice(path.to_str().unwrap()).is_some(), kept == 0, "{kept} bytes of {count} packets");
            fs::remove_file(path).unwrap();
        }
        let path = made("text", 0, 0);
        fs::write(&path, "a line\n".repeat(1 << 20)).unwrap();
        assert!(twice(path.to_str().unwrap()).is_none());
        fs::remove_file(path).unwrap();
        assert!(twice("-").is_none() && twice("/no/such/file").is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_left_to_the_one_that_reads_it() {
        let path = std::env::temp_dir().join(format!("tcpstall-twice-pipe-{}", std::process::id()));
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Opening it would wait for a writer for ever.
        assert!(twice(path.to_str().unwrap()).is_none());
        fs::remove_file(path).unwrap();
    }
}
