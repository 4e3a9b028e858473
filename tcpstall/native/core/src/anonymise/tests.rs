//! Tests that pseudonyms keep prefixes and kinds.

use super::{Pseudonyms, Secret};
use crate::wire::Address;

const SECRET: Secret = *b"a secret that everybody may know";

fn v4(bytes: [u8; 4]) -> Address {
    Address::v4(bytes)
}

fn pseudonym(address: Address) -> String {
    Pseudonyms::new(&SECRET).address(address).to_string()
}

#[test]
fn addresses_share_as_many_bits_as_their_pseudonyms_do() {
    let names = Pseudonyms::new(&SECRET);
    let addresses: Vec<Address> = (0..200_u32)
        .flat_map(|n| {
            let mixed = n.wrapping_mul(0x9e37_79b9);
            let wide = u128::from(mixed) << 96 | u128::from(mixed.rotate_left(13)) << 40 | u128::from(n);
            [v4(mixed.to_be_bytes()), v4((mixed & 0xffff | 0x0a01_0000).to_be_bytes()), Address(wide)]
        })
        .collect();
    let theirs: Vec<Address> = addresses.iter().map(|address| names.address(*address)).collect();
    let alike = |a: Address, b: Address| (a.0 ^ b.0).leading_zeros();
    for (one, its) in addresses.iter().zip(&theirs) {
        for (other, others) in addresses.iter().zip(&theirs) {
            assert_eq!(alike(*its, *others), alike(*one, *other), "{one} {other}");
        }
    }
}

#[test]
fn an_address_stays_of_its_kind() {
    assert!(pseudonym(v4([10, 1, 2, 3])).starts_with("10."));
    assert!(pseudonym(v4([192, 168, 2, 3])).starts_with("192.168."));
    for stays in [[127, 0, 0, 53], [0, 0, 0, 0], [255, 255, 255, 255], [224, 0, 0, 251]] {
        assert_eq!(pseudonym(v4(stays)), v4(stays).to_string());
    }
    let v6 = |text: &str| Address(text.parse::<std::net::Ipv6Addr>().unwrap().to_bits());
    for stays in ["::", "::1", "ff02::1", "ff02::fb"] {
        assert_eq!(pseudonym(v6(stays)), stays);
    }
    assert!(pseudonym(v6("fe80::0204:61ff:fe9d:f156")).starts_with("fe80::"));
    assert!(pseudonym(v6("fd00:1:2::3")).starts_with("fd"));
    assert!(matches!(pseudonym(v6("2001:db8::1")).as_bytes()[0], b'2' | b'3'));
    assert!(pseudonym(v6("ff02::1:ff9d:f156")).starts_with("ff02::1:"));
    assert_ne!(pseudonym(v6("ff02::1:ff9d:f156")), "ff02::1:ff9d:f156");
}

#[test]
fn another_key_gives_other_pseudonyms_and_the_same_the_same() {
    let mut other = SECRET;
    other[31] ^= 1;
    let address = v4([203, 0, 113, 9]);
    assert_ne!(Pseudonyms::new(&other).address(address), Pseudonyms::new(&SECRET).address(address));
    assert_eq!(Pseudonyms::new(&SECRET).address(address), Pseudonyms::new(&SECRET).address(address));
}

#[test]
fn a_mac_address_is_nobodys_and_keeps_whether_it_is_a_groups() {
    let names = Pseudonyms::new(&SECRET);
    let host = names.mac([0x00, 0x04, 0x61, 0x9d, 0xf1, 0x56]);
    assert_eq!(host[0] & 3, 2);
    assert_ne!(host[3..], [0x9d, 0xf1, 0x56]);
    assert_eq!(names.mac([0x33, 0x33, 0xff, 0x9d, 0xf1, 0x56])[0] & 3, 3);
    assert_eq!(names.mac([0xff; 6]), [0xff; 6]);
}
