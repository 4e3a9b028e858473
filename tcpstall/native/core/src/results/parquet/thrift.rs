//! Structs in Thrift's compact protocol: the footer and the page headers of Parquet.
//!
//! Source: Apache Thrift, `doc/specs/thrift-compact-protocol.md`.

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// Longest list whose length is in its first byte.
const SHORT_LIST: usize = 14;

/// A struct being written; its fields are written in the order of their numbers.
pub(super) struct Struct<'a> {
    bytes: &'a mut Vec<u8>,
    last: u8,
}

/// Appends a struct.
pub(super) fn write(bytes: &mut Vec<u8>, fill: impl FnOnce(&mut Struct<'_>)) {
    let mut fields = Struct { bytes, last: 0 };
    fill(&mut fields);
    bytes.push(0);
}

/// Appends an unsigned integer, seven bits a byte, the lowest first.
pub(super) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends a signed integer: small ones are short, whatever their sign.
pub(super) fn zigzag(bytes: &mut Vec<u8>, value: i64) {
    varint(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

impl Struct<'_> {
    fn field(&mut self, id: u8, kind: u8) {
        self.bytes.push((id - self.last) << 4 | kind);
        self.last = id;
    }

    pub(super) fn i32(&mut self, id: u8, value: i32) {
        self.field(id, I32);
        zigzag(self.bytes, value.into());
    }

    pub(super) fn i64(&mut self, id: u8, value: i64) {
        self.field(id, I64);
        zigzag(self.bytes, value);
    }

    pub(super) fn binary(&mut self, id: u8, value: &[u8]) {
        self.field(id, BINARY);
        blob(self.bytes, value);
    }

    pub(super) fn within(&mut self, id: u8, fill: impl FnOnce(&mut Struct<'_>)) {
        self.field(id, STRUCT);
        write(self.bytes, fill);
    }

    pub(super) fn i32s(&mut self, id: u8, values: &[i32]) {
        self.list(id, I32, values.len());
        values.iter().for_each(|&value| zigzag(self.bytes, value.into()));
    }

    pub(super) fn binaries(&mut self, id: u8, values: &[&[u8]]) {
        self.list(id, BINARY, values.len());
        values.iter().for_each(|value| blob(self.bytes, value));
    }

    pub(super) fn structs<T>(&mut self, id: u8, items: &[T], fill: impl Fn(&T, &mut Struct<'_>)) {
        self.list(id, STRUCT, items.len());
        items.iter().for_each(|item| write(self.bytes, |fields| fill(item, fields)));
    }

    fn list(&mut self, id: u8, kind: u8, len: usize) {
        self.field(id, LIST);
        if len <= SHORT_LIST {
            self.bytes.push((len as u8) << 4 | kind);
        } else {
            self.bytes.push(0xF0 | kind);
            varint(self.bytes, len as u64);
        }
    }
}

fn blob(bytes: &mut Vec<u8>, value: &[u8]) {
    varint(bytes, value.len() as u64);
    bytes.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::{varint, write, zigzag};

    #[test]
    fn integers_take_seven_bits_a_byte() {
        let mut bytes = Vec::new();
        varint(&mut bytes, 300);
        [0, -1, 1, i64::MIN].into_iter().for_each(|value| zigzag(&mut bytes, value));
        let lowest = [0xFF; 9].into_iter().chain([1]);
        assert_eq!(bytes, [0xAC, 2, 0, 1, 2].into_iter().chain(lowest).collect::<Vec<u8>>());
    }

    #[test]
    fn fields_are_told_by_the_distance_from_the_one_before() {
        let mut bytes = Vec::new();
        write(&mut bytes, |fields| {
            fields.i32(1, 2);
            fields.binaries(4, &[b"ab"]);
            fields.within(5, |inner| inner.i64(1, -1));
        });
        assert_eq!(bytes, [0x15, 4, 0x39, 0x18, 2, b'a', b'b', 0x1C, 0x16, 1, 0, 0]);
    }

    #[test]
    fn a_long_list_has_its_length_behind_its_kind() {
        let mut bytes = Vec::new();
        write(&mut bytes, |fields| fields.i32s(1, &[0; 20]));
        assert_eq!(bytes[..3], [0x19, 0xF5, 20]);
    }
}
