//! Detects the compression of an input from its first bytes, and makes its decoder.

use crate::words::words;
use std::io::{self, Read};

use super::counted::Counted;
use super::lz4::Lz4;

words! {
    /// A supported compression.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Compression {
        /// RFC 1952, in one member or many.
        Gzip = "gzip",
        /// RFC 8878, in one frame or many.
        Zstd = "zstd",
        /// LZ4 frames, legacy ones included.
        Lz4 = "lz4",
        /// The .xz format, in one stream or many.
        Xz = "xz",
        /// bzip2, in one stream or many.
        Bzip2 = "bzip2",
    }
}

/// Bytes of the beginning that detection needs.
pub(in crate::capture) const MAGIC: usize = 6;

/// First bytes of each compression.
const KNOWN: &[(&[u8], Compression)] = &[
    (b"\x1f\x8b\x08", Compression::Gzip),
    (b"\x28\xb5\x2f\xfd", Compression::Zstd),
    (b"\x04\x22\x4d\x18", Compression::Lz4),
    (b"\x02\x21\x4c\x18", Compression::Lz4),
    (b"\xfd7zXZ\0", Compression::Xz),
    (b"BZh", Compression::Bzip2),
];

impl Compression {
    /// Detects the compression by content, never by name.
    pub(in crate::capture) fn of(head: &[u8]) -> Option<Compression> {
        // A skippable frame may come first (pzstd writes one); lz4 has such frames too, but no tool begins with one.
        if let [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] = head {
            return Some(Compression::Zstd);
        }
        KNOWN.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, compression)| *compression)
    }

    /// The decoder, with bounded memory whatever the input demands.
    pub(super) fn decoder(self, source: Counted) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(source)),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(source)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Box::new(decoder)
            }
            Compression::Lz4 => Box::new(Lz4::new(source)?),
            Compression::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(source, true, XZ_MEMORY_KIB)),
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(source)),
        })
    }
}

/// zstd's own limit without `--long=31`: a window of 128 MiB.
const ZSTD_WINDOW_LOG: u32 = 27;

/// Memory limit of xz, KiB: `xz -9` needs half of it for decompression.
const XZ_MEMORY_KIB: u32 = 128 * 1024;
