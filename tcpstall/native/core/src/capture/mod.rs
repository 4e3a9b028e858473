//! Bytes to records: pcap, pcapng, snoop and tcpdump's text, from a file, a pipe, standard input or a decompressor, through one
//! read loop.

mod error;
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

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::error::CaptureError;
pub use self::format::Format;
pub use self::link::LinkType;
pub use self::name::{as_text, file, shown};
pub(crate) use self::order::Order;
pub use self::packed::{Compression, Expansion};
pub use self::pcap::whole_records;

use self::format::Found;
use self::packed::Here;
use self::pcap::Pcap;
use self::pcapng::Pcapng;
use self::pipe::Pipe;
use self::snoop::Snoop;
use self::steady::Steady;
use self::stream::Stream;
use self::text::Text;
use crate::size::PacketNo;
use crate::time::Nanos;

/// What a reader hands out next.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A captured frame, to be decoded by `wire::decode`.
    Frame(Frame<'a>),
    /// One line of tcpdump's text without its line end, to be read by `wire::text`.
    Line(&'a [u8]),
    /// The capture is damaged here: packets may be missing. Its end brings the error that says more.
    LeftOut,
    /// The capture itself says that it dropped so many packets, which may be none (pcapng interface statistics).
    Dropped(u64),
    /// A pcapng block that is no packet, in a capture that keeps them: [`Capture::block`] has its bytes.
    Block,
}

/// How a file of records (pcap, snoop) was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// What the file counts time in.
    pub tick: Nanos,
    /// Most bytes kept of a packet, 0 where the file sets no limit.
    pub snap_length: u32,
}

/// One captured frame, borrowed from the read buffer.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Number of the packet in its capture, counting from 1.
    pub packet: PacketNo,
    /// When the tap saw it; where the capture does not say (pcapng's simple packets), the time of the one before.
    pub time: Nanos,
    /// The interface's link type.
    pub link: LinkType,
    /// The bytes the snap length kept.
    pub bytes: &'a [u8],
    /// Length on the wire, bytes.
    pub wire_length: u32,
}

/// An open capture, read from its beginning to its end.
pub struct Capture {
    stream: Stream,
    /// What reads it, once its first bytes have told.
    reader: Option<Reader>,
    refused: bool,
    keeps_blocks: bool,
    size: Option<u64>,
    expansion: Expansion,
    packed: Option<Packed>,
    unpacking: Unpacking,
    once: bool,
}

/// Where compressed input is unpacked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unpacking {
    /// In a thread of its own.
    Beside,
    /// Where it is read.
    Here,
    /// There, and no more of it than is asked for.
    Little,
}

/// How the input is compressed, and how much of it was used up.
struct Packed {
    compression: Compression,
    read: Arc<AtomicU64>,
}

enum Reader {
    Pcap(Pcap),
    Pcapng(Pcapng),
    Snoop(Snoop),
    Text(Text),
}

impl Capture {
    /// Opens a file by its name as [`as_text`] gives it, or standard input for `-`.
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
        let steady = Steady::new(file, &about);
        Ok(Capture { size: Some(about.len()), ..Capture::from_reader(Box::new(steady)) })
    }

    /// Reads a capture from anything that gives bytes. What it is shows with the first item.
    pub fn from_reader(source: Box<dyn Read + Send>) -> Capture {
        Capture {
            stream: Stream::new(source),
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

    /// Says how long the input is, where its source knows and the system does not.
    pub fn with_size(self, size: Option<u64>) -> Capture {
        Capture { size, ..self }
    }

    /// Unpacks where it is read: no thread is started.
    pub fn without_threads(self) -> Capture {
        Capture { unpacking: Unpacking::Here, ..self }
    }

    /// Reads no more at once than the beginning of a capture takes; for one of which nothing was asked yet.
    pub fn sparing(self) -> Capture {
        let stream = Stream::sparing(self.stream.into_source());
        Capture { stream, unpacking: Unpacking::Little, ..self }
    }

    /// The first `most` bytes, unpacked, or all there are; to be asked before anything else.
    pub fn head(&mut self, most: usize) -> Result<Vec<u8>, CaptureError> {
        self.look_inside()?;
        self.stream.need(most)?;
        let buffered = self.stream.buffered();
        Ok(buffered[..buffered.len().min(most)].to_vec())
    }

    /// Lets compressed input grow to so much and no more.
    pub fn with_expansion(self, expansion: Expansion) -> Capture {
        Capture { expansion, ..self }
    }

    /// Hands out pcapng's other blocks too, for whoever writes the capture again.
    pub fn with_blocks(self) -> Capture {
        Capture { keeps_blocks: true, ..self }
    }

    #[cold]
    fn begin(&mut self) -> Result<Reader, CaptureError> {
        self.look_inside()?;
        let stream = &mut self.stream;
        Ok(match format::detect(stream)? {
            Found::Pcap(layout) => Reader::Pcap(Pcap::open(layout, stream)?),
            Found::Pcapng => Reader::Pcapng(Pcapng::open(self.keeps_blocks)),
            Found::Snoop => Reader::Snoop(Snoop::open(stream)?),
            Found::Text => Reader::Text(Text::open(stream)),
        })
    }

    /// Unpacks the input if it is compressed.
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
        let nothing = Stream::new(Box::new(std::io::empty()));
        let source = std::mem::replace(&mut self.stream, nothing).into_source();
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

    /// The next item, or nothing at the end. After an error there are no more packets, but for
    /// [`CaptureError::Interrupted`], after which the same call can be made again.
    ///
    /// Look at the item where it is (`match &item`): moving it soon after it was written costs more than reading it.
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

    /// Gives frames to `take`, each with the next place in `room`, as long as they are buffered whole, no earlier than `from` and
    /// than each other, and it takes them. Says how many it took; any other comes next.
    #[inline]
    pub(crate) fn buffered<T>(
        &mut self,
        room: &mut [T],
        from: Nanos,
        take: impl FnMut(&Frame<'_>, &mut T) -> bool,
    ) -> usize {
        match &mut self.reader {
            Some(Reader::Pcap(reader)) => reader.buffered(&mut self.stream, room, from, take),
            _ => 0,
        }
    }

    /// What kind of capture it is, once the first item was asked for.
    pub fn format(&self) -> Option<Format> {
        self.reader.as_ref().map(|reader| match reader {
            Reader::Pcap(_) => Format::Pcap,
            Reader::Pcapng(_) => Format::Pcapng,
            Reader::Snoop(_) => Format::Snoop,
            Reader::Text(_) => Format::Text,
        })
    }

    /// The link types named so far, each once.
    pub fn link_types(&self) -> &[LinkType] {
        match &self.reader {
            Some(Reader::Pcap(reader)) => reader.links(),
            Some(Reader::Pcapng(reader)) => reader.links(),
            Some(Reader::Snoop(reader)) => std::slice::from_ref(reader.link()),
            Some(Reader::Text(_)) | None => &[],
        }
    }

    /// The block that the last item came in, whole, in the byte order of its section; `None` where it is no pcapng.
    pub fn block(&self) -> Option<&[u8]> {
        match &self.reader {
            Some(Reader::Pcapng(reader)) => reader.last_block(&self.stream),
            _ => None,
        }
    }

    /// The number of the pcapng section that the last item was in, and its byte order: a section whose header is damaged is told
    /// by this alone.
    pub(crate) fn section(&self) -> Option<(u64, Order)> {
        match &self.reader {
            Some(Reader::Pcapng(reader)) => Some(reader.section_now()),
            _ => None,
        }
    }

    /// How the records were written; `None` for pcapng, whose interfaces say it each for itself, and for text.
    pub fn recording(&self) -> Option<Recording> {
        match &self.reader {
            Some(Reader::Pcap(reader)) => Some(reader.recording()),
            Some(Reader::Snoop(_)) => Some(snoop::RECORDING),
            _ => None,
        }
    }

    /// How many frames so far had no time of their own (pcapng's simple packets).
    pub fn untimed(&self) -> u64 {
        match &self.reader {
            Some(Reader::Pcapng(reader)) => reader.untimed(),
            _ => 0,
        }
    }

    /// True unless the next item must be waited for: everything that was read is consumed.
    #[inline]
    pub fn has_more(&self) -> bool {
        !self.stream.buffered().is_empty()
    }

    /// How the input was compressed, if it was.
    pub fn compression(&self) -> Option<Compression> {
        self.packed.as_ref().map(|packed| packed.compression)
    }

    /// Bytes of the input consumed so far: of the compressed ones where it is compressed.
    pub fn offset(&self) -> u64 {
        match &self.packed {
            Some(packed) => packed.read.load(Ordering::Relaxed),
            None => self.stream.offset(),
        }
    }

    /// It cannot be opened a second time: standard input, a pipe.
    pub fn reads_once(&self) -> bool {
        self.once
    }

    /// Length of the file, bytes; `None` for pipes and standard input.
    pub fn size(&self) -> Option<u64> {
        self.size
    }
}

/// What is in the source, unpacked if its first bytes show a compression, as it is if not.
pub fn unpacked(source: Box<dyn Read + Send>, expansion: Expansion) -> io::Result<Box<dyn Read + Send>> {
    let mut stream = Stream::sparing(source);
    stream.need(packed::MAGIC).map_err(io::Error::other)?;
    let compression = Compression::of(stream.buffered());
    let source = stream.into_source();
    Ok(match compression {
        Some(compression) => Box::new(Here::new(compression, source, expansion, Arc::default())),
        None => source,
    })
}

#[cfg(test)]
mod tests;
