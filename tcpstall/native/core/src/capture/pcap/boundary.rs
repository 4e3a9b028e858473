//! Boundary between whole records and the one that has only begun, of a pcap file that comes through a pipe.

use super::{Layout, RECORD_LIMIT};

/// Number of bytes of `records` that are whole records behind that file header; `None` where it is no pcap header.
///
/// From a record of impossible length on, which only damage makes, all bytes count: whoever reads them says what is wrong.
pub fn whole_records(header: &[u8], records: &[u8]) -> Option<usize> {
    let layout = Layout::of(*header.first_chunk()?)?;
    let mut whole = 0;
    while let Some([_, _, captured]) = layout.order.words(&records[whole..]) {
        if captured > RECORD_LIMIT {
            return Some(records.len());
        }
        let next = whole + layout.record_header + captured as usize;
        if next > records.len() {
            break;
        }
        whole = next;
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::{RECORD_LIMIT, whole_records};

    const LITTLE: [u8; 4] = 0xa1b2_c3d4_u32.to_le_bytes();

    /// Records of these lengths.
    fn records(lengths: &[u32], bytes: fn(u32) -> [u8; 4], header: usize) -> Vec<u8> {
        let mut all = Vec::new();
        for length in lengths {
            let words = [1, 2, *length, 1_500, 0, 0];
            all.extend(words.iter().flat_map(|word| bytes(*word)).take(header));
            all.resize(all.len() + *length as usize, 7);
        }
        all
    }

    #[test]
    fn a_record_counts_once_its_last_byte_is_there() {
        let two = records(&[40, 3], u32::to_le_bytes, 16);
        for cut in 0..=two.len() {
            let whole = if cut == two.len() {
                cut
            } else if cut >= 56 {
                56
            } else {
                0
            };
            assert_eq!(whole_records(&LITTLE, &two[..cut]), Some(whole), "{cut}");
        }
    }

    #[test]
    fn the_header_says_the_byte_order_and_the_length_of_record_headers() {
        let big = records(&[40, 3, 0], u32::to_be_bytes, 16);
        assert_eq!(whole_records(&0xa1b2_3c4d_u32.to_be_bytes(), &big[..big.len() - 1]), Some(big.len() - 16));
        let patched = records(&[9], u32::to_le_bytes, 24);
        assert_eq!(whole_records(&0xa1b2_cd34_u32.to_le_bytes(), &patched), Some(patched.len()));
        assert_eq!(whole_records(b"\x0a\x0d\x0d\x0a", &big), None);
        assert_eq!(whole_records(b"", &big), None);
    }

    #[test]
    fn damage_is_handed_on() {
        let mut damaged = records(&[4], u32::to_le_bytes, 16);
        damaged.extend([1, 2, RECORD_LIMIT + 1].iter().flat_map(|word: &u32| word.to_le_bytes()));
        assert_eq!(whole_records(&LITTLE, &damaged), Some(damaged.len()));
    }
}
