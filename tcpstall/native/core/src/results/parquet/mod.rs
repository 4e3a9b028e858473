//! Columns written as Parquet, as DuckDB and others read them.
//!
//! Most columns of a capture's rows have one value, or none: such a column takes a few bytes, and no memory until the
//! file is finished.
//!
//! Source: Apache Parquet, `parquet.thrift`, `Encodings.md`, `Compression.md`.

mod bits;
mod column;
mod marks;
mod same;
mod thrift;
mod words;

use column::{Column, Encoding, Pages, Type};
use thrift::Struct;
use zstd::bulk::Compressor;

use super::columns::Columns;

/// First and last bytes of a file.
const MAGIC: &[u8; 4] = b"PAR1";
/// Rows of a row group: those of DuckDB's own files.
const ROWS: usize = 122_880;
/// Memory of the values of a row group, bytes.
const MEMORY: usize = 24_000_000;
/// Level of zstd: higher ones save a tenth of the bytes and take twice the time.
const LEVEL: i32 = 1;
/// Fewer bytes of a column are not worth a frame of zstd.
const WORTH_PACKING: usize = 128;
/// A column may have unknown values (`OPTIONAL`).
const OPTIONAL: i32 = 1;
/// A text is in UTF-8 (`ConvertedType.UTF8`).
const UTF8: i32 = 0;
/// Kinds of pages (`PageType`).
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;
/// Codecs of pages (`CompressionCodec`).
const UNCOMPRESSED: i32 = 0;
const ZSTD: i32 = 6;

/// A Parquet file in memory, of rows that are added bit by bit.
#[derive(Debug, Default)]
pub struct File {
    content: Vec<u8>,
    names: Vec<String>,
    kinds: Vec<Type>,
    begun: Vec<Column>,
    begun_rows: usize,
    groups: Vec<Group>,
    about: Vec<(String, String)>,
}

#[derive(Debug)]
struct Group {
    chunks: Vec<Chunk>,
    rows: usize,
}

/// A column of a row group, as the footer tells it.
#[derive(Debug)]
struct Chunk {
    kind: Type,
    encoding: Encoding,
    codec: i32,
    rows: usize,
    unknown: usize,
    ends: Option<[Vec<u8>; 2]>,
    /// Bytes of its pages, as they were before they were compressed.
    plain: usize,
    packed: usize,
    dictionary_at: Option<usize>,
    data_at: usize,
}

impl File {
    /// An empty file whose metadata has these keys and values.
    pub fn with(about: Vec<(String, String)>) -> File {
        File { about, ..File::default() }
    }

    /// Appends rows; all have the columns of the first ones.
    pub fn add(&mut self, columns: &Columns) {
        if self.names.is_empty() {
            self.content.extend_from_slice(MAGIC);
            self.names = columns.iter().map(|column| column.name.clone().into_owned()).collect();
        }
        if self.begun.is_empty() {
            self.begun = columns.iter().map(|column| Column::like(&column.values)).collect();
            self.kinds = self.begun.iter().map(Column::kind).collect();
        }
        debug_assert!(columns.iter().map(|column| &*column.name).eq(&self.names), "rows of another table");
        self.begun.iter_mut().zip(columns).for_each(|(begun, column)| begun.add(&column.values));
        self.begun_rows += columns.first().map_or(0, |column| column.values.len());
        if self.begun_rows >= ROWS || self.begun.iter().map(Column::size).sum::<usize>() >= MEMORY {
            self.close();
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.begun_rows + self.groups.iter().map(|group| group.rows).sum::<usize>()
    }

    /// Memory, bytes.
    pub fn size(&self) -> usize {
        self.content.len() + self.begun.iter().map(Column::size).sum::<usize>()
    }

    /// The whole file.
    pub fn finish(mut self) -> Vec<u8> {
        self.close();
        let File { mut content, names, kinds, groups, about, .. } = self;
        let at = content.len();
        thrift::write(&mut content, |footer| fill_footer(footer, &names, &kinds, &groups, &about));
        let len = content.len() - at;
        content.extend_from_slice(&(len as u32).to_le_bytes());
        content.extend_from_slice(MAGIC);
        content
    }

    fn close(&mut self) {
        if self.begun_rows == 0 {
            return;
        }
        let mut zstd = Compressor::new(LEVEL).ok();
        let rows = std::mem::take(&mut self.begun_rows);
        let chunks = std::mem::take(&mut self.begun)
            .into_iter()
            .map(|column| put(&mut self.content, column.pages(), column.kind(), rows, zstd.as_mut()))
            .collect();
        self.groups.push(Group { chunks, rows });
    }
}

/// Appends the pages of a column.
fn put(content: &mut Vec<u8>, pages: Pages, kind: Type, rows: usize, zstd: Option<&mut Compressor<'_>>) -> Chunk {
    let Pages { dictionary, data, encoding, unknown, ends } = pages;
    let all = data.len() + dictionary.as_ref().map_or(0, |(words, _)| words.len());
    let mut zstd = zstd.filter(|_| all >= WORTH_PACKING);
    let codec = if zstd.is_some() { ZSTD } else { UNCOMPRESSED };
    let (begun, mut plain) = (content.len(), 0);
    let mut page = |bytes: &[u8], kind: i32, about: u8, fill: &dyn Fn(&mut Struct<'_>)| {
        let packed = zstd.as_mut().and_then(|zstd| zstd.compress(bytes).ok());
        let packed = packed.as_deref().unwrap_or(bytes);
        let at = content.len();
        thrift::write(content, |header| {
            header.i32(1, kind);
            header.i32(2, bytes.len() as i32);
            header.i32(3, packed.len() as i32);
            header.within(about, fill);
        });
        plain += content.len() - at + bytes.len();
        content.extend_from_slice(packed);
        at
    };
    let dictionary_at = dictionary.map(|(words, len)| {
        page(&words, DICTIONARY_PAGE, 7, &|about| {
            about.i32(1, len as i32);
            about.i32(2, Encoding::Plain as i32);
        })
    });
    let data_at = page(&data, DATA_PAGE, 5, &|about| {
        about.i32(1, rows as i32);
        about.i32(2, encoding as i32);
        about.i32(3, Encoding::Runs as i32);
        about.i32(4, Encoding::Runs as i32);
    });
    let packed = content.len() - begun;
    Chunk { kind, encoding, codec, rows, unknown, ends, plain, packed, dictionary_at, data_at }
}

fn fill_footer(
    footer: &mut Struct<'_>,
    names: &[String],
    kinds: &[Type],
    groups: &[Group],
    about: &[(String, String)],
) {
    let columns: Vec<(&String, Type)> = names.iter().zip(kinds.iter().copied()).collect();
    let schema: Vec<Option<&(&String, Type)>> = std::iter::once(None).chain(columns.iter().map(Some)).collect();
    footer.i32(1, 1);
    footer.structs(2, &schema, |element, fields| match element {
        None => {
            fields.binary(4, b"schema");
            fields.i32(5, columns.len() as i32);
        }
        Some((name, kind)) => {
            fields.i32(1, *kind as i32);
            fields.i32(3, OPTIONAL);
            fields.binary(4, name.as_bytes());
            if *kind == Type::Text {
                fields.i32(6, UTF8);
                fields.within(10, |logical| logical.within(1, |_| ()));
            }
        }
    });
    footer.i64(3, groups.iter().map(|group| group.rows as i64).sum());
    footer.structs(4, groups, |group, fields| {
        let chunks: Vec<(&String, &Chunk)> = names.iter().zip(&group.chunks).collect();
        fields.structs(1, &chunks, |(name, chunk), fields| {
            fields.i64(2, 0);
            fields.within(3, |about| fill_chunk(about, name, chunk));
        });
        fields.i64(2, group.chunks.iter().map(|chunk| chunk.plain as i64).sum());
        fields.i64(3, group.rows as i64);
    });
    if !about.is_empty() {
        footer.structs(5, about, |(key, value), pair| {
            pair.binary(1, key.as_bytes());
            pair.binary(2, value.as_bytes());
        });
    }
    footer.binary(6, b"tcpstall");
    // Bytes as they are, numbers by their signs (`TypeDefinedOrder`).
    footer.structs(7, &columns, |_, order| order.within(1, |_| ()));
}

fn fill_chunk(about: &mut Struct<'_>, name: &str, chunk: &Chunk) {
    about.i32(1, chunk.kind as i32);
    let mut encodings = vec![Encoding::Runs as i32, chunk.encoding as i32];
    encodings.extend(chunk.dictionary_at.map(|_| Encoding::Plain as i32));
    about.i32s(2, &encodings);
    about.binaries(3, &[name.as_bytes()]);
    about.i32(4, chunk.codec);
    about.i64(5, chunk.rows as i64);
    about.i64(6, chunk.plain as i64);
    about.i64(7, chunk.packed as i64);
    about.i64(9, chunk.data_at as i64);
    if let Some(at) = chunk.dictionary_at {
        about.i64(11, at as i64);
    }
    about.within(12, |statistics| {
        statistics.i64(3, chunk.unknown as i64);
        if let Some([least, greatest]) = &chunk.ends {
            statistics.binary(5, greatest);
            statistics.binary(6, least);
        }
    });
}
