//! Compares the JSON text with the text that `serde_json` writes.

use super::foreign;
use crate::causes::{Cause, Info};
use crate::json::text_of;
use crate::time::Nanos;
use crate::wire::{Address, Endpoint};

#[test]
fn what_steers_a_terminal_is_escaped_and_means_the_same() {
    let names = ["a\u{9b}31m\u{7f}", "\u{202e}fdp.exe", "\u{1b}]0;x\u{7}", "größe→"];
    let mut text = Vec::new();
    foreign(&mut text, &names).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text, r#"["a\u009b31m\u007f","\u202efdp.exe","\u001b]0;x\u0007","größe→"]"#);
    assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), names);
}

#[test]
fn addresses_are_printed_as_they_are_displayed() {
    let v6 = Address(u128::from_be_bytes([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]));
    for address in [Address::v4([0, 0, 0, 0]), Address::v4([255, 10, 9, 100]), v6] {
        assert_eq!(text_of(&address), serde_json::to_string(&address.to_string()).unwrap());
        let endpoint = Endpoint { address, port: 443 };
        assert_eq!(text_of(&endpoint), format!(r#"{{"address":"{address}","port":443}}"#));
    }
}

#[test]
fn names_are_words_without_escapes() {
    for cause in Cause::ALL {
        let Info { name, .. } = cause.info();
        assert_eq!(text_of(&cause), serde_json::to_string(name).unwrap());
    }
    assert_eq!(text_of(&Some(Nanos(-5))), "-5");
}
