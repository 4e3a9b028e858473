//! Full segment: the payload size of the sender's full segments.
//!
//! Prior     the MSS of both SYNs less the options that every segment carries (RFC 6691)
//! Evidence  consecutive new segments of one size, smaller than the prior by less than TCP options can take; against
//!           it: a larger segment
//! Learnt    at the third segment in a row
//! Source    RFC 6691 (a sender deducts the options it may send); RFC 9293 §3.1 (options take 40 bytes at most)

/// Largest size of TCP options: 15 words of header, 5 of them fixed.
const MOST_OPTIONS: u32 = 40;
/// Consecutive segments of one size that show the size of full segments.
const ROW: u8 = 3;

/// Watches for sizes just below the announced MSS.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct FullSegment {
    size: u32,
    row: u8,
    announced: u32,
}

impl FullSegment {
    /// Takes in `payload` bytes of new data other than a full segment of `full` bytes. Returns the size of full
    /// segments where the data shows another size.
    pub fn sees(&mut self, payload: u32, full: u32) -> Option<u32> {
        let most = self.announced.max(full);
        if payload > full && (payload == most || payload.is_multiple_of(most) && !payload.is_multiple_of(full)) {
            self.row = 0;
            return Some(most);
        }
        if payload >= full || payload + MOST_OPTIONS < most {
            self.row = 0;
            return None;
        }
        self.row = if payload == self.size { self.row.saturating_add(1) } else { 1 };
        self.size = payload;
        self.announced = most;
        (self.row >= ROW).then_some(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(sizes: &[u32]) -> u32 {
        let mut full_segment = FullSegment::default();
        sizes.iter().fold(1_448, |full, size| full_segment.sees(*size, full).unwrap_or(full))
    }

    #[test]
    fn three_in_a_row_show_what_the_sender_leaves_for_options() {
        assert_eq!(shown(&[147, 1_420, 1_420, 1_420]), 1_420);
    }

    #[test]
    fn two_or_sizes_that_no_options_explain_show_nothing() {
        assert_eq!(shown(&[1_420, 1_420, 147]), 1_448);
        assert_eq!(shown(&[1_000; 9]), 1_448, "an application's records");
    }

    #[test]
    fn a_longer_segment_shows_that_the_row_was_the_applications() {
        assert_eq!(shown(&[1_420, 1_420, 1_420, 1_448]), 1_448);
        assert_eq!(shown(&[1_420, 1_420, 1_420, 14_480]), 1_448);
    }
}
