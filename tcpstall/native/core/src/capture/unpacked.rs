//! Bytes of a source, decompressed where the source is compressed.

use std::io::{self, Read};
use std::sync::Arc;

use super::packed::{Compression, Expansion, Here, MAGIC};
use super::stream::Stream;

/// The decompressed content of the source if its first bytes show a compression, otherwise the content as it is.
pub fn unpacked(source: Box<dyn Read + Send>, expansion: Expansion) -> io::Result<Box<dyn Read + Send>> {
    let mut stream = Stream::sparing(source);
    stream.need(MAGIC).map_err(io::Error::other)?;
    let compression = Compression::of(stream.buffered());
    let source = stream.into_source();
    Ok(match compression {
        Some(compression) => Box::new(Here::new(compression, source, expansion, Arc::default())),
        None => source,
    })
}
