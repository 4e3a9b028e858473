//! Anonymises TCP options: those that every analysis needs stay; of the others only kind and length stay.

/// Blanks identifying options in `options`: Fast Open's cookies, MD5 signatures, Multipath TCP's keys and addresses.
pub(super) fn blank(options: &mut [u8]) {
    const END: u8 = 0;
    const NO_OPERATION: u8 = 1;
    const MULTIPATH: u8 = 30;
    let mut at = 0;
    loop {
        let (value, next) = match options.get(at..).unwrap_or_default() {
            [NO_OPERATION, ..] => (at + 1, at + 1),
            [kind, length, ..] if *kind != END && *length >= 2 => {
                let next = at + usize::from(*length);
                let value = match (*kind, *length) {
                    // MSS, window scale, SACK (RFC 2018), timestamps (RFC 7323).
                    (2, 4) | (3, 3) | (4, 2) | (5, 10 | 18 | 26 | 34) | (8, 10) => next,
                    // Its first byte is the kind of option (RFC 8684 §3).
                    (MULTIPATH, 3..) => at + 3,
                    _ => at + 2,
                };
                (value, next)
            }
            _ => break,
        };
        let end = next.min(options.len());
        options[value.min(end)..end].fill(0);
        at = next;
    }
    // The end mark and its padding, or options that cannot be parsed.
    if let Some(rest) = options.get_mut(at..) {
        rest.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::blank;

    fn blanked(options: &[u8]) -> Vec<u8> {
        let mut options = options.to_vec();
        blank(&mut options);
        options
    }

    #[test]
    fn what_analyses_need_stays() {
        let linux = [2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7];
        assert_eq!(blanked(&linux), linux);
    }

    #[test]
    fn cookies_keys_and_addresses_go() {
        assert_eq!(blanked(&[34, 6, 9, 9, 9, 9, 1, 1]), [34, 6, 0, 0, 0, 0, 1, 1]);
        assert_eq!(blanked(&[30, 8, 0x30, 1, 10, 0, 0, 1]), [30, 8, 0x30, 0, 0, 0, 0, 0]);
        assert_eq!(blanked(&[0, 7, 7, 7]), [0; 4]);
        assert_eq!(blanked(&[8, 1, 7, 7]), [0; 4]);
        assert_eq!(blanked(&[19, 18, 7, 7]), [19, 18, 0, 0]);
    }
}
