//! Reads records: pcap, pcapng, snoop and tcpdump's text, from a file, a pipe, standard input or a decompressor,
//! through one read loop.

mod error;
mod folder;
mod foreign;
mod format;
mod link;
mod losses;
mod name;
mod order;
mod packed;
mod pcap;
mod pcapng;
mod pipe;
mod snoop;
mod steady;
mod stream;
mod text;
pub(crate) mod twice;
mod unpacked;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::error::CaptureError;
pub use self::folder::{Folder, PlainFile};
pub use self::format::Format;
pub use self::link::LinkType;
pub use self::name::{as_text, file, shown};
pub(crate) use self::order::ByteOrder;
pub use self::packed::{Compression, Expansion};
pub use self::pcap::whole_records;
pub use self::unpacked::unpacked;

use self::format::DetectedFormat;
use self::packed::Here;
use self::pcap::PcapReader;
use self::pcapng::PcapngReader;
use self::pipe::Pipe;
use self::snoop::Snoop;
use self::steady::Steady;
use self::stream::Stream;
use self::text::Text;
use crate::packet_no::PacketNo;
use crate::time::Nanos;

/// Next item of a capture.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A captured frame, to be decoded by `wire::decode`.
    Frame(Frame<'a>),
    /// One line of tcpdump's text without its line end, to be read by `wire::text`.
    Line(&'a [u8]),
    /// The capture is damaged here: packets may be missing. The error at its end describes the damage.
    LeftOut,
    /// The number of packets that the capture itself reports as dropped, which may be 0 (pcapng interface statistics).
    Dropped(u64),
    /// A pcapng block without a packet, in a capture that keeps such blocks: [`Capture::block`] has its bytes.
    Block,
}

/// Recording parameters of a file of records (pcap, snoop).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Unit of the file's times.
    pub tick: Nanos,
    /// Largest number of bytes kept of a packet, 0 where the file sets no limit.
    pub snap_length: u32,
}

/// One captured frame, borrowed from the read buffer.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Number of the packet in its capture, counting from 1.
    pub packet: PacketNo,
    /// Time at the tap; where the capture has none (pcapng's simple packets), the time of the packet before.
    pub time: Nanos,
    /// The interface's link type.
    pub link: LinkType,
    /// The bytes that the snap length kept.
    pub bytes: &'a [u8],
    /// Length on the wire, bytes.
    pub wire_length: u32,
}

/// Takes frames in a row. A type and no function, because the compiler inlines no function that is called in two places.
pub(crate) trait Takes {
    /// Place for one frame.
    type Place;

    /// Reads the frame into its place; false if it is not taken.
    fn takes(frame: &Frame<'_>, place: &mut Self::Place) -> bool;
}

/// An open capture, read from its beginning to its end.
pub struct Capture {
    stream: Stream,
    /// The reader of its format, once the first bytes have shown that.
    reader: Option<Reader>,
    refused: bool,
    keeps_blocks: bool,
    size: Option<u64>,
    expansion: Expansion,
    packed: Option<Packed>,
    unpacking: Unpacking,
    once: bool,
}

/// Thread that decompresses the input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unpacking {
    /// A thread of its own.
    Beside,
    /// The reading thread.
    Here,
    /// The reading thread, and no more than is requested.
    Little,
}

/// Compression of the input, and the bytes used up.
struct Packed {
    compression: Compression,
    read: Arc<AtomicU64>,
}

enum Reader {
    Pcap(PcapReader),
    Pcapng(PcapngReader),
    Snoop(Snoop),
    Text(Text),
}

impl Capture {
    /// Opens a file by its name as [`as_text`] returns it, or standard input for `-`.
    pub fn open(path: &str) -> Result<Capture, CaptureError> {
        if path == "-" {
            return Ok(Capture { once: true, ..Capture::from_reader(Box::new(Pipe::new(std::io::stdin()))) });
        }
        let refuse = |reason: String| CaptureError::Open { path: shown(path), reason };
        let reason = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => refuse("no such file".into()),
            ErrorKind::PermissionDenied => refuse("permission denied".into()),
            _ => refuse(error.to_string()),
        };
        let file = File::open(&*file(path)).map_err(reason)?;
        let about = file.metadata().map_err(reason)?;
        if about.is_dir() {
            return Err(refuse("it is a directory; name the capture files in it".into()));
        }
        if !about.is_file() {
            return Ok(Capture { once: true, ..Capture::from_reader(Box::new(Pipe::new(file))) });
        }
        let stream = Stream::sized(about.len(), Box::new(Steady::new(file, &about)));
        Ok(Capture { size: Some(about.len()), ..Capture::of(stream) })
    }

    /// Reads a capture from any source of bytes. Its format is detected with the first item.
    pub fn from_reader(source: Box<dyn Read + Send>) -> Capture {
        Capture::of(Stream::new(source))
    }

    fn of(stream: Stream) -> Capture {
        Capture {
            stream,
            reader: None,
            refused: false,
            keeps_blocks: false,
            size: None,
            expansion: Expansion::default(),
            packed: None,
            unpacking: Unpacking::Beside,
            once: false,
        }
    }

    /// Sets the size of the input, where its source knows it and the system does not.
    pub fn with_size(self, size: Option<u64>) -> Capture {
        Capture { size, ..self }
    }

    /// Decompresses in the reading thread: no further thread is started.
    pub fn without_threads(self) -> Capture {
        Capture { unpacking: Unpacking::Here, ..self }
    }

    /// Reads only the beginning of the capture at once. Call it before any item is read.
    pub fn sparing(self) -> Capture {
        let stream = Stream::sparing(self.stream.into_source());
        Capture { stream, unpacking: Unpacking::Little, ..self }
    }

    /// The first `most` bytes, decompressed, or all there are. Call it before any item is read.
    pub fn head(&mut self, most: usize) -> Result<Vec<u8>, CaptureError> {
        self.look_inside()?;
        self.stream.need(most)?;
        let buffered = self.stream.buffered();
        Ok(buffered[..buffered.len().min(most)].to_vec())
    }

    /// Sets the limit to which compressed input may grow.
    pub fn with_expansion(self, expansion: Expansion) -> Capture {
        Capture { expansion, ..self }
    }

    /// Returns pcapng's other blocks too, for callers that write the capture again.
    pub fn with_blocks(self) -> Capture {
        Capture { keeps_blocks: true, ..self }
    }

    #[cold]
    fn begin(&mut self) -> Result<Reader, CaptureError> {
        self.look_inside()?;
        let stream = &mut self.stream;
        Ok(match format::detect(stream)? {
            DetectedFormat::Pcap(layout) => Reader::Pcap(PcapReader::open(layout, stream)?),
            DetectedFormat::Pcapng => Reader::Pcapng(PcapngReader::open(self.keeps_blocks)),
            DetectedFormat::Snoop => Reader::Snoop(Snoop::open(stream)?),
            DetectedFormat::Text => Reader::Text(Text::open(stream)),
        })
    }

    /// Decompresses the input if it is compressed.
    fn look_inside(&mut self) -> Result<(), CaptureError> {
        if self.packed.is_some() {
            return Ok(());
        }
        self.stream.need(packed::MAGIC)?;
        Compression::of(self.stream.buffered()).map_or(Ok(()), |compression| self.unpack(compression))
    }

    /// Puts a decompressor between the source and the stream.
    #[cold]
    fn unpack(&mut self, compression: Compression) -> Result<(), CaptureError> {
        if let Some(outer) = &self.packed {
            let what =
                format!("a {} file inside a {} file; unpack it first", compression.name(), outer.compression.name());
            return Err(CaptureError::NotACapture { what });
        }
        let source = std::mem::replace(&mut self.stream, Stream::nothing()).into_source();
        let read = Arc::new(AtomicU64::new(0));
        let failed = |error: std::io::Error| CaptureError::Read { offset: 0, reason: error.to_string() };
        self.stream = match self.unpacking {
            Unpacking::Beside => {
                let unpacked = packed::unpack(compression, source, self.expansion, Arc::clone(&read));
                Stream::new(Box::new(unpacked.map_err(failed)?))
            }
            Unpacking::Here => Stream::new(Box::new(Here::new(compression, source, self.expansion, Arc::clone(&read)))),
            Unpacking::Little => {
                Stream::sparing(Box::new(Here::new(compression, source, self.expansion, Arc::clone(&read))))
            }
        };
        self.packed = Some(Packed { compression, read });
        self.stream.need(packed::MAGIC)?;
        match Compression::of(self.stream.buffered()) {
            Some(inner) => self.unpack(inner),
            None => Ok(()),
        }
    }

    /// The next item, `None` at the end. After an error there are no more packets, except after
    /// [`CaptureError::Interrupted`], when the call can be repeated.
    ///
    /// Match on a reference to the item (`match &item`): moving it soon after it was written costs more than reading
    /// it.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an Iterator cannot lend what it keeps in its own buffer")]
    pub fn next(&mut self) -> Result<Option<Item<'_>>, CaptureError> {
        if self.refused {
            return Ok(None);
        }
        if self.reader.is_none() {
            match self.begin() {
                Ok(reader) => self.reader = Some(reader),
                Err(error) => {
                    self.refused = error != CaptureError::Interrupted;
                    return Err(error);
                }
            }
        }
        match &mut self.reader {
            Some(Reader::Pcap(reader)) => reader.next(&mut self.stream),
            Some(Reader::Pcapng(reader)) => reader.next(&mut self.stream),
            Some(Reader::Snoop(reader)) => reader.next(&mut self.stream),
            Some(Reader::Text(reader)) => reader.next(&mut self.stream),
            None => Ok(None),
        }
    }

    /// Offers frames to `T`, each with the next place in `room`, as long as they are buffered whole, in order of time from
    /// `from` on, and `T` takes them. Returns the number taken; any other frame is the next item.
    #[inline]
    pub(crate) fn buffered<T: Takes>(&mut self, room: &mut [T::Place], from: Nanos) -> usize {
        match &mut self.reader {
            Some(Reader::Pcap(reader)) => reader.buffered::<T>(&mut self.stream, room, from),
            Some(Reader::Pcapng(reader)) => reader.buffered::<T>(&mut self.stream, room, from),
            _ => 0,
        }
    }

    /// The format, once the first item was read.
    pub fn format(&self) -> Option<Format> {
        self.reader.as_ref().map(|reader| match reader {
            Reader::Pcap(_) => Format::Pcap,
            Reader::Pcapng(_) => Format::Pcapng,
            Reader::Snoop(_) => Format::Snoop,
            Reader::Text(_) => Format::Text,
        })
    }

    /// Key of the last frame's interface: another one for each that the capture names, 0 where it names none.
    #[inline]
    pub(crate) fn interface_key(&self) -> u64 {
        self.pcapng().map_or(0, PcapngReader::interface_key)
    }

    /// Name of the last frame's interface.
    pub(crate) fn interface_name(&self) -> Option<&str> {
        self.pcapng()?.interface_name()
    }

    /// The link types so far, each once.
    pub fn link_types(&self) -> &[LinkType] {
        match &self.reader {
            Some(Reader::Pcap(reader)) => reader.links(),
            Some(Reader::Pcapng(reader)) => reader.links(),
            Some(Reader::Snoop(reader)) => std::slice::from_ref(reader.link()),
            Some(Reader::Text(_)) | None => &[],
        }
    }

    /// The whole block of the last item, in the byte order of its section; `None` where the capture is not pcapng.
    pub fn block(&self) -> Option<&[u8]> {
        self.pcapng()?.last_block(&self.stream)
    }

    /// The number and the byte order of the last item's pcapng section: the only sign of a section whose header is
    /// damaged.
    pub(crate) fn section(&self) -> Option<(u64, ByteOrder)> {
        self.pcapng().map(PcapngReader::section_now)
    }

    #[inline]
    fn pcapng(&self) -> Option<&PcapngReader> {
        match &self.reader {
            Some(Reader::Pcapng(reader)) => Some(reader),
            _ => None,
        }
    }

    /// Recording parameters; `None` for pcapng, whose interfaces have their own, and for text.
    pub fn recording(&self) -> Option<Recording> {
        match &self.reader {
            Some(Reader::Pcap(reader)) => Some(reader.recording()),
            Some(Reader::Snoop(_)) => Some(snoop::RECORDING),
            _ => None,
        }
    }

    /// Number of frames so far without a time of their own (pcapng's simple packets).
    pub fn untimed(&self) -> u64 {
        self.pcapng().map_or(0, PcapngReader::untimed)
    }

    /// True unless the next item has to be waited for, because everything read is consumed.
    #[inline]
    pub fn has_more(&self) -> bool {
        !self.stream.buffered().is_empty()
    }

    /// Compression of the input, if it is compressed.
    pub fn compression(&self) -> Option<Compression> {
        self.packed.as_ref().map(|packed| packed.compression)
    }

    /// Bytes of the input consumed so far, before decompression.
    pub fn offset(&self) -> u64 {
        match &self.packed {
            Some(packed) => packed.read.load(Ordering::Relaxed),
            None => self.stream.offset(),
        }
    }

    /// True for input that cannot be opened a second time: standard input, a pipe.
    pub fn reads_once(&self) -> bool {
        self.once
    }

    /// Length of the file, bytes; `None` for pipes and standard input.
    pub fn size(&self) -> Option<u64> {
        self.size
    }
}

#[cfg(test)]
mod tests;
