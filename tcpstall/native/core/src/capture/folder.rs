//! Lists a folder of captures: a folder may hold 100,000, and each is looked at in every round of a scan.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const NS: i64 = 1_000_000_000;

/// A regular file that has no other name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainFile {
    /// Its name in the folder.
    pub name: OsString,
    /// Size, bytes.
    pub size: u64,
    /// Time of the last write, ns since 1970.
    pub changed_ns: i64,
}

/// Content of a folder, in order of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// Regular files that have no other name.
    pub plain: Vec<PlainFile>,
    /// Names of all else: folders, links, files of several names, and what cannot be looked at.
    pub others: Vec<OsString>,
}

impl Folder {
    /// Reads a folder. A file that vanishes meanwhile is left out.
    pub fn read(path: &Path) -> io::Result<Folder> {
        let mut folder = Folder::default();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            match entry.metadata() {
                Ok(about) if about.is_file() && about.nlink() == 1 => folder.plain.push(PlainFile {
                    name: entry.file_name(),
                    size: about.size(),
                    changed_ns: about.mtime().saturating_mul(NS).saturating_add(about.mtime_nsec()),
                }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                _ => folder.others.push(entry.file_name()),
            }
        }
        folder.plain.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        folder.others.sort_unstable();
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_files_come_with_size_and_time_and_all_else_by_name() -> io::Result<()> {
        let folder = std::env::temp_dir().join(format!("tcpstall-folder-{}", std::process::id()));
        fs::create_dir_all(folder.join("inside"))?;
        fs::write(folder.join("b"), [0; 3])?;
        fs::write(folder.join("a"), [0; 2])?;
        fs::write(folder.join("once"), [])?;
        fs::hard_link(folder.join("once"), folder.join("twice"))?;
        let read = Folder::read(&folder);
        fs::remove_dir_all(&folder)?;
        let read = read?;
        let sizes: Vec<_> = read.plain.iter().map(|file| (file.name.to_str(), file.size)).collect();
        assert_eq!(sizes, [(Some("a"), 2), (Some("b"), 3)]);
        assert!(read.plain.iter().all(|file| file.changed_ns > 1_700_000_000 * NS));
        assert_eq!(read.others, ["inside", "once", "twice"]);
        Ok(())
    }
}
