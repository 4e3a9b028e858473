//! Writes rows as JSON text, equal to `serde_json`'s. Names of fields are our own and are not escaped.
//!
//! `serde_json` tests each byte of each string for characters to escape, names of fields included. A short flow is
//! little more than a hundred such names and some words of our own, and these tests took a seventh of the time of a
//! whole run.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{Error as _, Impossible, SerializeMap, SerializeSeq, SerializeStruct, Serializer};
use serde_json::Error;

/// Length of text, bytes, from which it is written even inside a row: one flow may have 100,000 stalls.
const ENOUGH: usize = 256 * 1024;

/// Appends a row to `text`; where `text` grows long its beginning goes to `out`.
pub(super) fn append(text: &mut Vec<u8>, out: &mut dyn Write, row: &impl Serialize) -> io::Result<()> {
    row.serialize(&mut Json { text, out, name: false })?;
    Ok(())
}

/// Writes a value with strangers' text, such as file names. JSON permits characters that control a terminal (DEL, C1)
/// or change the writing direction, so they are escaped here.
pub(super) fn foreign(out: &mut impl Write, value: &(impl Serialize + ?Sized)) -> std::io::Result<()> {
    let steers = |char: char| {
        let turns =
            matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        char.is_control() || turns
    };
    let text = serde_json::to_string(value)?;
    let mut rest = text.as_str();
    while let Some((start, char)) = rest.char_indices().find(|(_, char)| steers(*char)) {
        out.write_all(&rest.as_bytes()[..start])?;
        write!(out, "\\u{:04x}", u32::from(char))?;
        rest = &rest[start + char.len_utf8()..];
    }
    out.write_all(rest.as_bytes())
}

struct Json<'a> {
    text: &'a mut Vec<u8>,
    out: &'a mut dyn Write,
    /// The next value is the name of a field, flattened into the object.
    name: bool,
}

impl Json<'_> {
    fn value(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        serde_json::to_writer(&mut *self.text, value)
    }

    fn nested(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        value.serialize(&mut Json { text: self.text, out: self.out, name: false })
    }

    /// Writes words of our own, which need no escape.
    #[inline(always)]
    fn quoted(&mut self, words: &str) {
        const ROOM: usize = 64;
        let length = words.len() + 2;
        if length > ROOM {
            return self.quoted_long(words);
        }
        let mut quoted = [b'"'; ROOM];
        quoted[1..length - 1].copy_from_slice(words.as_bytes());
        self.text.extend_from_slice(&quoted[..length]);
    }

    #[cold]
    fn quoted_long(&mut self, words: &str) {
        self.text.push(b'"');
        self.text.extend_from_slice(words.as_bytes());
        self.text.push(b'"');
    }

    #[inline(never)]
    fn words(&mut self, value: &str) -> Result<(), Error> {
        if !is_plain(value.as_bytes()) {
            return self.value(value);
        }
        self.text.reserve(value.len() + 2);
        self.text.push(b'"');
        self.text.extend_from_slice(value.as_bytes());
        self.text.push(b'"');
        Ok(())
    }
}

/// Appends the name of a field, which needs no escape. With a name known at compile time this is a few moves.
#[inline(always)]
fn named(text: &mut Vec<u8>, any: bool, name: &str) {
    const ROOM: usize = 64;
    let length = name.len() + 4;
    if length > ROOM {
        return named_long(text, any, name);
    }
    let mut named = [b'"'; ROOM];
    named[0] = b',';
    named[2..length - 2].copy_from_slice(name.as_bytes());
    named[length - 1] = b':';
    if any {
        text.extend_from_slice(&named[..length]);
    } else {
        text.extend_from_slice(&named[1..length]);
    }
}

#[cold]
fn named_long(text: &mut Vec<u8>, any: bool, name: &str) {
    for part in [if any { "," } else { "" }, "\"", name, "\":"] {
        text.extend_from_slice(part.as_bytes());
    }
}

/// True if the text needs no escape.
#[inline]
fn is_plain(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks::<8>();
    let mut last = [b' '; 8];
    last[..rest.len()].copy_from_slice(rest);
    words.iter().chain([&last]).all(|word| !has_special(u64::from_le_bytes(*word)))
}

/// True if one of eight bytes is a control character, a quotation mark or a backslash: subtraction borrows from the
/// high bit of a byte that is too small, and only there as long as no lower byte was.
#[inline]
fn has_special(bytes: u64) -> bool {
    let each = |byte: u8| u64::from_le_bytes([byte; 8]);
    let zero = |bytes: u64| bytes.wrapping_sub(each(1)) & !bytes;
    let control = bytes.wrapping_sub(each(b' ')) & !bytes;
    (control | zero(bytes ^ each(b'"')) | zero(bytes ^ each(b'\\'))) & each(0x80) != 0
}

/// State of a list or an object while it is written.
struct Inside<'a> {
    json: Json<'a>,
    any: bool,
    ends_with: u8,
}

impl Inside<'_> {
    #[inline]
    fn next(&mut self) {
        if self.any {
            self.json.text.push(b',');
        }
        self.any = true;
    }

    fn close(self) -> Result<(), Error> {
        self.json.text.push(self.ends_with);
        Ok(())
    }
}

impl SerializeStruct for Inside<'_> {
    type Ok = ();
    type Error = Error;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        named(self.json.text, self.any, key);
        self.any = true;
        self.json.nested(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeMap for Inside<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.next();
        key.serialize(&mut Json { text: self.json.text, out: self.json.out, name: true })
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.json.text.push(b':');
        self.json.nested(value)
    }

    // Fields of a flattened row come here; their names need no escape either.
    #[inline(always)]
    fn serialize_entry<K, V>(&mut self, key: &K, value: &V) -> Result<(), Error>
    where
        K: Serialize + ?Sized,
        V: Serialize + ?Sized,
    {
        self.serialize_key(key)?;
        self.serialize_value(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeSeq for Inside<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.next();
        if self.json.text.len() > ENOUGH {
            self.json.out.write_all(self.json.text).map_err(Error::io)?;
            self.json.text.clear();
        }
        self.json.nested(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

/// Forwards a value to `serde_json`.
macro_rules! plain {
    ($($method:ident: $kind:ty),*) => {
        $(
            fn $method(self, value: $kind) -> Result<(), Error> {
                self.value(&value)
            }
        )*
    };
}

/// Writes an integer.
macro_rules! whole {
    ($($method:ident: $kind:ty),*) => {
        $(
            #[inline]
            fn $method(self, value: $kind) -> Result<(), Error> {
                self.text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
                Ok(())
            }
        )*
    };
}

/// Rejects a shape that no row has.
macro_rules! absent {
    ($($method:ident($($argument:ty),*) -> $answer:ty),*) => {
        $(
            fn $method(self, $(_: $argument),*) -> Result<$answer, Error> {
                Err(Error::custom(concat!("rows do not ", stringify!($method))))
            }
        )*
    };
}

type Never = Impossible<(), Error>;

impl<'a> Serializer for &'a mut Json<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Inside<'a>;
    type SerializeMap = Inside<'a>;
    type SerializeStruct = Inside<'a>;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeStructVariant = Never;

    plain!(
        serialize_bool: bool, serialize_f32: f32, serialize_f64: f64, serialize_char: char
    );
    whole!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64
    );

    #[inline(always)]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if self.name {
            self.quoted(value);
            return Ok(());
        }
        self.words(value)
    }

    absent!(
        serialize_bytes(&[u8]) -> (),
        serialize_tuple(usize) -> Never,
        serialize_tuple_struct(&'static str, usize) -> Never,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never
    );

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.text.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.quoted(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        Err(Error::custom("rows do not serialize_newtype_variant"))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Inside<'a>, Error> {
        self.text.push(b'[');
        Ok(Inside { json: Json { text: self.text, out: self.out, name: false }, any: false, ends_with: b']' })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Inside<'a>, Error> {
        self.text.push(b'{');
        Ok(Inside { json: Json { text: self.text, out: self.out, name: false }, any: false, ends_with: b'}' })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Inside<'a>, Error> {
        self.serialize_map(None)
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        let start = self.text.len();
        write!(self.text, "\"{value}\"").map_err(Error::io)?;
        if !is_plain(&self.text[start + 1..self.text.len() - 1]) {
            self.text.truncate(start);
            return serde_json::to_writer(&mut *self.text, &value.to_string());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
