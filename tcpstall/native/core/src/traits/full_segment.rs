//! Full segment: the payload size of the sender's full segments.
//!
//! Prior     the MSS of both SYNs less the options that every segment carries (RFC 6691)
//! Evidence  consecutive new segments of one size, smaller than the prior, or than the MSS that the peer announced, by less than
//!           TCP options can take, or offloaded frames of several such segments; against it: a larger segment, up to the MSS that
//!           the peer announced (RFC 9293 §3.7.1: a sender's own MSS limits what it receives). Without SYNs: consecutive frames
//!           that several segments of one size fill. Where the peer's SYN names no MSS: consecutive new segments of one size above
//!           the default of 536 bytes that segments of the default cannot fill, because the sender knows the size otherwise
//! Learnt    at the third in a row; at the sixth where the size lies between the sender's own MSS and that of its peer, or below
//!           1,200 bytes where the peer names no MSS
//! Source    RFC 6691 (a sender deducts the options it may send); RFC 9293 §3.1 (options take 40 bytes at most)

/// Largest size of TCP options: 15 words of header, 5 of them fixed.
const MOST_OPTIONS: u32 = 40;
/// Consecutive segments of one size that show the size of full segments.
const ROW: u8 = 3;
/// The same for segments longer than the sender's own MSS option, which may be a full one and a short one in one frame.
const LONG_ROW: u8 = 6;
/// Segments of a frame up to which its length shows their number: sizes that differ by options need 30 or more to differ
/// by a segment.
const COUNTED: u32 = 30;
/// The same without SYNs, where paths with smaller packets are possible too.
const COUNTED_BLINDLY: u32 = 4;
/// Payload of a full segment on Ethernet (IPv4 without options).
const ETHERNET: u32 = 1_460;
/// Smallest payload of full segments in such frames: IPv6's smallest MTU of 1,280, less headers with options (RFC 8200 §5).
const SMALLEST: u32 = 1_200;

/// Watches for sizes just below the announced MSS.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct FullSegment {
    size: u32,
    row: u8,
    announced: u32,
    agreed: u32,
    /// The peer's SYN names no MSS.
    unnamed: bool,
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
        let size = one_of(payload, most, COUNTED);
        if self.unnamed && size > full && size <= most && !payload.is_multiple_of(full) {
            return self.repeats(size, if size < SMALLEST { LONG_ROW } else { ROW });
        }
        let just_below = |most: u32| (1..=most).contains(&size) && size + MOST_OPTIONS >= most;
        if size == full || !just_below(most) && (size > full || !just_below(self.agreed)) {
            self.row = 0;
            return None;
        }
        self.announced = most;
        self.repeats(size, if size > full { LONG_ROW } else { ROW })
    }

    /// Sets the largest payload that the peer's MSS option allows, and the prior, by both SYNs.
    pub fn allows(&mut self, most: u32, agreed: u32) {
        (self.announced, self.agreed) = (most, agreed);
    }

    /// Takes in that the peer's SYN names no MSS: `options` leave the rest of a packet on Ethernet.
    pub fn named_none(&mut self, options: u32) {
        (self.announced, self.unnamed) = (self.announced.max(ETHERNET - options), true);
    }

    /// Takes in an offloaded frame of a flow without SYNs. Returns the size of its segments once a row shows it.
    pub fn divides(&mut self, payload: u32) -> Option<u32> {
        let size = one_of(payload, ETHERNET, COUNTED_BLINDLY);
        if size < SMALLEST {
            self.row = 0;
            return None;
        }
        self.repeats(size, ROW)
    }

    fn repeats(&mut self, size: u32, row: u8) -> Option<u32> {
        self.row = if size == self.size { self.row.saturating_add(1) } else { 1 };
        self.size = size;
        (self.row >= row).then_some(size)
    }
}

/// Size of the equal segments of `most` bytes or little less that make up a frame; 0 where none do.
fn one_of(payload: u32, most: u32, counted: u32) -> u32 {
    let count = payload.div_ceil(most);
    if count <= counted && count > 0 && payload.is_multiple_of(count) { payload / count } else { 0 }
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
    fn offloaded_frames_show_the_size_of_their_segments() {
        assert_eq!(shown(&[8_520, 4_260, 11_360]), 1_420);
        assert_eq!(shown(&[8_521, 4_259, 11_361]), 1_448);
    }

    #[test]
    fn the_peer_allows_more_than_the_sender_would_receive() {
        let mut full_segment = FullSegment::default();
        full_segment.allows(1_460, 1_448);
        assert_eq!((full_segment.sees(1_440, 1_448), full_segment.sees(1_460, 1_448)), (None, Some(1_460)));
    }

    #[test]
    fn a_sender_leaves_room_for_options_below_its_own_smaller_mss() {
        let mut full_segment = FullSegment::default();
        full_segment.allows(1_460, 536);
        let mut shown = |size| full_segment.sees(size, 536);
        assert_eq!((shown(532), shown(532), shown(532)), (None, None, Some(532)));
        assert_eq!((shown(480), shown(480), shown(480)), (None, None, None), "an application's records");
    }

    #[test]
    fn frames_of_unequal_segments_show_none_below_the_smallest_mss() {
        let mut full_segment = FullSegment::default();
        full_segment.allows(1_460, 40);
        let mut shown = |size| full_segment.sees(size, 40);
        assert_eq!((shown(8_521), shown(8_521), shown(8_521)), (None, None, None));
    }

    #[test]
    fn six_segments_between_what_both_ends_accept_show_the_path() {
        let mut full_segment = FullSegment::default();
        full_segment.allows(1_460, 1_380);
        let mut seen = |count| (0..count).fold(1_380, |full, _| full_segment.sees(1_430, full).unwrap_or(full));
        assert_eq!((seen(5), seen(1)), (1_380, 1_430));
    }

    #[test]
    fn segments_above_the_default_show_their_size_where_the_peer_names_none() {
        let mut unnamed = FullSegment::default();
        unnamed.allows(536, 536);
        let mut named = unnamed;
        unnamed.named_none(0);
        assert_eq!([1_380; 3].map(|size| unnamed.sees(size, 536)), [None, None, Some(1_380)]);
        assert_eq!([1_380; 3].map(|size| named.sees(size, 536)), [None; 3]);
    }

    #[test]
    fn offloaded_frames_of_the_default_show_no_larger_size() {
        let mut unnamed = FullSegment::default();
        unnamed.allows(536, 536);
        unnamed.named_none(0);
        assert_eq!([1_072; 9].map(|size| unnamed.sees(size, 536)), [None; 9]);
        assert_eq!([1_000; 5].map(|size| unnamed.sees(size, 536)), [None; 5], "an application's records");
    }

    #[test]
    fn without_syns_frames_of_a_few_segments_show_their_size() {
        let mut full_segment = FullSegment::default();
        let mut shown = |frame| full_segment.divides(frame);
        assert_eq!((shown(2_816), shown(4_224), shown(2_816)), (None, None, Some(1_408)));
        assert_eq!((shown(3_001), shown(65_483), shown(1_600)), (None, None, None));
    }

    #[test]
    fn a_longer_segment_shows_that_the_row_was_the_applications() {
        assert_eq!(shown(&[1_420, 1_420, 1_420, 1_448]), 1_448);
        assert_eq!(shown(&[1_420, 1_420, 1_420, 14_480]), 1_448);
    }
}
