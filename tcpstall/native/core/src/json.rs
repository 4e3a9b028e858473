//! Writes rows as JSON text, equal to `serde_json`'s. Names of fields are our own, known at compile time, and are not
//! escaped.
//!
//! A short flow is little more than a hundred such names and some numbers. A general serialiser visits each of them
//! through several calls, which took a fifth of the time of a whole run.

mod numbers;
mod page;
mod plain;

use std::io::{self, Write};

use smallvec::{Array, SmallVec};

use self::numbers::Leading;
pub(crate) use self::page::{PAGE, Page};
use self::plain::is_plain;

/// Room of the page for one value.
const SMALL_PAGE: usize = 4 * 1024;

/// JSON text of rows on its way to the output.
///
/// The page is initialised once and written by position: a piece that fits is stored with one comparison, and only a
/// piece that does not fit calls a function, so that nothing has to be saved around it.
pub(crate) struct Text<'a> {
    page: &'a mut [u8],
    /// Length of the text on the page: 32 bits, so that the end of a piece needs no check for overflow.
    at: u32,
    leading: Leading,
    out: &'a mut dyn Write,
    /// Outcome of what was written so far.
    written: io::Result<()>,
}

/// Name of a field as JSON text, alone and with the values that most fields have.
pub(crate) struct Name {
    /// The name and a colon.
    pub(crate) alone: &'static str,
    /// The same with `null`.
    pub(crate) null: &'static str,
    /// The same with `0`.
    pub(crate) zero: &'static str,
}

/// A value that has a JSON form.
pub(crate) trait Print {
    /// Appends its JSON form.
    fn print(&self, text: &mut Text<'_>);

    /// Appends it as a field. Most fields are `null` or 0: these are one piece with the name.
    #[inline(always)]
    fn field(&self, text: &mut Text<'_>, name: Name) {
        text.constant(name.alone);
        self.print(text);
    }
}

/// A value that the JSON form of a row may leave out.
pub(crate) trait MayBeEmpty {
    /// The row leaves it out.
    fn is_nothing(&self) -> bool;
}

/// A row: a JSON object with its fields in their order, under their own names.
pub(crate) trait Row {
    /// Appends the fields, the first after `opening`: `{`, or `,` where they are part of another row.
    fn fields(&self, text: &mut Text<'_>, opening: u8);
}

/// Declares a row. `#[json(hidden)]` leaves a field out, `#[json(if_any)]` leaves it out while it is empty,
/// `#[json(or_null)]` writes `null` for an empty text, and `#[json(flat)]` adds the fields of another row.
macro_rules! row {
    (
        $(#[$about:meta])*
        $vis:vis struct $Row:ident {
            $(#[doc = $about_first:literal])* $(#[json($first_how:ident)])? $vis_first:vis $first:ident: $First:ty,
            $($(#[doc = $about_field:literal])* $(#[json($how:ident)])? $vis_field:vis $field:ident: $Type:ty,)*
        }
    ) => {
        $(#[$about])*
        $vis struct $Row {
            $(#[doc = $about_first])*
            $vis_first $first: $First,
            $($(#[doc = $about_field])* $vis_field $field: $Type,)*
        }

        impl $crate::json::Row for $Row {
            fn fields(&self, text: &mut $crate::json::Text<'_>, opening: u8) {
                $crate::json::row!(@first $($first_how)? self.$first, text, opening);
                $($crate::json::row!(@field $($how)? self.$field, text);)*
            }
        }
    };
    (@first $row:ident.$field:ident, $text:ident, $opening:ident) => {
        if $opening == b'{' {
            $crate::json::Print::field(&$row.$field, $text, $crate::json::row!(@name "{" $field));
        } else {
            $crate::json::Print::field(&$row.$field, $text, $crate::json::row!(@name "," $field));
        }
    };
    (@name $before:literal $field:ident) => {
        $crate::json::Name {
            alone: concat!($before, "\"", stringify!($field), "\":"),
            null: concat!($before, "\"", stringify!($field), "\":null"),
            zero: concat!($before, "\"", stringify!($field), "\":0"),
        }
    };
    (@first if_any $row:ident.$field:ident, $text:ident, $opening:ident) => {
        debug_assert_eq!($opening, b',', "a row without a first field is part of another row");
        $crate::json::row!(@field if_any $row.$field, $text);
    };
    (@field $row:ident.$field:ident, $text:ident) => {
        $crate::json::Print::field(&$row.$field, $text, $crate::json::row!(@name "," $field));
    };
    (@field hidden $row:ident.$field:ident, $text:ident) => {};
    (@field flat $row:ident.$field:ident, $text:ident) => {
        $crate::json::Row::fields(&$row.$field, $text, b',');
    };
    (@field if_any $row:ident.$field:ident, $text:ident) => {
        if !$crate::json::MayBeEmpty::is_nothing(&$row.$field) {
            $crate::json::row!(@field $row.$field, $text);
        }
    };
    (@field or_null $row:ident.$field:ident, $text:ident) => {
        if $crate::json::MayBeEmpty::is_nothing(&$row.$field) {
            $text.constant($crate::json::row!(@name "," $field).null);
        } else {
            $crate::json::row!(@field $row.$field, $text);
        }
    };
}

/// Gives types whose values have names these names as their JSON form.
macro_rules! named {
    ($($Type:ty),*) => {
        $(
            impl $crate::json::Print for $Type {
                #[inline]
                fn print(&self, text: &mut $crate::json::Text<'_>) {
                    text.words(self.name());
                }
            }
        )*
    };
}

pub(crate) use {named, row};

/// The JSON form of a value.
pub(crate) fn text_of(value: &impl Print) -> String {
    let (mut page, mut whole) = (Page::new(SMALL_PAGE), Vec::new());
    // Memory takes all.
    _ = page.append(&mut whole, |text| value.print(text));
    _ = page.write_to(&mut whole);
    String::from_utf8(whole).unwrap_or_default()
}

impl Text<'_> {
    /// The next bytes of the page, if they are on it.
    #[inline(always)]
    fn place<const LENGTH: usize>(&mut self) -> Option<&mut [u8; LENGTH]> {
        let at = self.at as usize;
        self.page.get_mut(at..at + LENGTH)?.first_chunk_mut()
    }

    /// Appends a piece of JSON that is known at compile time: a few moves.
    #[inline(always)]
    pub(crate) fn constant(&mut self, piece: &'static str) {
        let at = self.at as usize;
        match self.page.get_mut(at..at + piece.len()) {
            Some(place) => {
                place.copy_from_slice(piece.as_bytes());
                self.at += piece.len() as u32;
            }
            None => self.turns_page(piece.as_bytes()),
        }
    }

    /// Appends one byte of JSON.
    #[inline(always)]
    pub(crate) fn push(&mut self, byte: u8) {
        match self.page.get_mut(self.at as usize) {
            Some(place) => {
                *place = byte;
                self.at += 1;
            }
            None => self.turns_page(&[byte]),
        }
    }

    /// Appends a piece of JSON.
    fn bytes(&mut self, piece: &[u8]) {
        let at = self.at as usize;
        match self.page.get_mut(at..).and_then(|rest| rest.get_mut(..piece.len())) {
            Some(place) => {
                place.copy_from_slice(piece);
                self.at += piece.len() as u32;
            }
            None => self.turns_page(piece),
        }
    }

    /// Appends a piece of JSON that does not fit on the page.
    #[cold]
    #[inline(never)]
    fn turns_page(&mut self, piece: &[u8]) {
        self.goes_out();
        match self.page.get_mut(..piece.len()) {
            Some(place) => {
                place.copy_from_slice(piece);
                self.at = piece.len() as u32;
            }
            None if self.written.is_ok() => self.written = self.out.write_all(piece),
            None => {}
        }
    }

    /// Appends a string of our own words, which need no escape. Words of four to sixteen letters are two moves, which
    /// overlap.
    #[inline(never)]
    pub(crate) fn words(&mut self, words: &'static str) {
        let words = words.as_bytes();
        debug_assert!(is_plain(words), "our own words need no escape");
        let length = words.len();
        let Some(place) = self.place::<18>() else { return self.quoted(words) };
        if let 8..=16 = length
            && let (Some(first), Some(last)) = (words.first_chunk::<8>(), words.last_chunk::<8>())
        {
            place[1..9].copy_from_slice(first);
            place[length - 7..=length].copy_from_slice(last);
        } else if let 4..8 = length
            && let (Some(first), Some(last)) = (words.first_chunk::<4>(), words.last_chunk::<4>())
        {
            place[1..5].copy_from_slice(first);
            place[length - 3..=length].copy_from_slice(last);
        } else {
            return self.quoted(words);
        }
        (place[0], place[length + 1]) = (b'"', b'"');
        self.at += length as u32 + 2;
    }

    /// Appends a string that needs no escape. It is not inlined: [`Text::words`] has nothing to save then.
    #[inline(never)]
    fn quoted(&mut self, plain: &[u8]) {
        self.push(b'"');
        self.bytes(plain);
        self.push(b'"');
    }

    /// Appends a string, escaped.
    pub(crate) fn string(&mut self, text: &str) {
        if is_plain(text.as_bytes()) {
            self.quoted(text.as_bytes());
        } else {
            self.rare(text);
        }
    }

    /// Appends a value by `serde_json`.
    #[cold]
    fn rare(&mut self, value: &(impl serde::Serialize + ?Sized)) {
        match serde_json::to_vec(value) {
            Ok(text) => self.bytes(&text),
            // Such values have a JSON form.
            Err(error) => self.written = Err(error.into()),
        }
    }

    /// Appends a list.
    pub(crate) fn list<'b, T: Print + 'b>(&mut self, elements: impl IntoIterator<Item = &'b T>) {
        self.push(b'[');
        for (index, element) in elements.into_iter().enumerate() {
            if index > 0 {
                self.push(b',');
            }
            element.print(self);
        }
        self.push(b']');
    }

    /// Writes the page.
    #[cold]
    fn goes_out(&mut self) {
        if self.written.is_ok() {
            self.written = self.out.write_all(&self.page[..self.at as usize]);
        }
        self.at = 0;
    }
}

impl<R: Row> Print for R {
    fn print(&self, text: &mut Text<'_>) {
        self.fields(text, b'{');
        text.push(b'}');
    }
}

impl Print for bool {
    #[inline]
    fn print(&self, text: &mut Text<'_>) {
        if *self { text.constant("true") } else { text.constant("false") }
    }
}

impl Print for str {
    fn print(&self, text: &mut Text<'_>) {
        text.string(self);
    }
}

impl Print for &'static str {
    #[inline]
    fn print(&self, text: &mut Text<'_>) {
        text.words(self);
    }
}

impl Print for String {
    fn print(&self, text: &mut Text<'_>) {
        text.string(self);
    }
}

impl<T: Print> Print for Option<T> {
    #[inline]
    fn print(&self, text: &mut Text<'_>) {
        match self {
            Some(value) => value.print(text),
            None => text.constant("null"),
        }
    }

    #[inline(always)]
    fn field(&self, text: &mut Text<'_>, name: Name) {
        match self {
            Some(value) => value.field(text, name),
            None => text.constant(name.null),
        }
    }
}

impl<T: Print> Print for Vec<T> {
    #[inline]
    fn print(&self, text: &mut Text<'_>) {
        if self.is_empty() {
            text.constant("[]");
        } else {
            text.list(self);
        }
    }
}

impl<T: Print, const N: usize> Print for SmallVec<[T; N]>
where
    [T; N]: Array<Item = T>,
{
    fn print(&self, text: &mut Text<'_>) {
        text.list(self);
    }
}

impl<T> MayBeEmpty for Option<T> {
    #[inline]
    fn is_nothing(&self) -> bool {
        self.is_none()
    }
}

impl<T> MayBeEmpty for Vec<T> {
    #[inline]
    fn is_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl MayBeEmpty for &str {
    #[inline]
    fn is_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl MayBeEmpty for u64 {
    #[inline]
    fn is_nothing(&self) -> bool {
        *self == 0
    }
}

impl MayBeEmpty for u32 {
    #[inline]
    fn is_nothing(&self) -> bool {
        *self == 0
    }
}

#[cfg(test)]
mod tests;
