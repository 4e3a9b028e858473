//! Packed forms of the types of which pauses are made.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{NONE, Packed, Packer, Unpacker};
use crate::flow::End;
use crate::packet_no::PacketNo;
use crate::sender::cwnd::CongestionPhase;
use crate::time::Nanos;

/// Packs a type as a number.
macro_rules! as_number {
    ($($Type:ty: |$to:ident| $number:expr, |$from:ident| $value:expr;)*) => {
        $(
            impl Packed for $Type {
                #[inline(always)]
                fn pack(&self, to: &mut Packer) {
                    let $to = *self;
                    to.number($number);
                }

                #[inline(always)]
                fn unpack(from: &mut Unpacker<'_>) -> $Type {
                    let $from = from.number();
                    $value
                }

                #[inline(always)]
                fn is_blank(&self) -> bool {
                    let $to = *self;
                    $number == 0
                }

                #[inline(always)]
                fn blank(_: &mut Unpacker<'_>) -> $Type {
                    let $from = 0;
                    $value
                }
            }
        )*
    };
}

as_number! {
    u64: |value| value, |number| number;
    u32: |value| u64::from(value), |number| number as u32;
    u16: |value| u64::from(value), |number| number as u16;
    PacketNo: |value| value.0, |number| PacketNo(number);
    End: |value| value as u64, |number| End::BOTH[usize::from(number != 0)];
    CongestionPhase: |value| value as u64, |number| match number {
        0 => CongestionPhase::Initial,
        1 => CongestionPhase::SlowStart,
        2 => CongestionPhase::CongestionAvoidance,
        _ => CongestionPhase::Recovery,
    };
}

impl Packed for i64 {
    #[inline(always)]
    fn pack(&self, to: &mut Packer) {
        to.signed(*self);
    }

    #[inline(always)]
    fn unpack(from: &mut Unpacker<'_>) -> i64 {
        from.signed()
    }

    #[inline(always)]
    fn is_blank(&self) -> bool {
        *self == 0
    }

    #[inline(always)]
    fn blank(_: &mut Unpacker<'_>) -> i64 {
        0
    }
}

impl Packed for Nanos {
    #[inline(always)]
    fn pack(&self, to: &mut Packer) {
        to.signed(self.0);
    }

    #[inline(always)]
    fn unpack(from: &mut Unpacker<'_>) -> Nanos {
        Nanos(from.signed())
    }

    #[inline(always)]
    fn is_blank(&self) -> bool {
        *self == Nanos::ZERO
    }

    #[inline(always)]
    fn blank(_: &mut Unpacker<'_>) -> Nanos {
        Nanos::ZERO
    }
}

/// A mark is its bit and nothing else.
impl Packed for bool {
    #[inline(always)]
    fn pack(&self, to: &mut Packer) {
        to.byte(u8::from(*self));
    }

    #[inline(always)]
    fn unpack(from: &mut Unpacker<'_>) -> bool {
        from.byte() != 0
    }

    #[inline(always)]
    fn is_blank(&self) -> bool {
        !self
    }

    #[inline(always)]
    fn blank(_: &mut Unpacker<'_>) -> bool {
        false
    }

    #[inline(always)]
    fn pack_field(&self, _: &mut Packer) {}

    #[inline(always)]
    fn unpack_field(_: &mut Unpacker<'_>) -> bool {
        true
    }
}

impl<A: Packed, B: Packed> Packed for (A, B) {
    #[inline(always)]
    fn pack(&self, to: &mut Packer) {
        self.0.pack(to);
        self.1.pack(to);
    }

    #[inline(always)]
    fn unpack(from: &mut Unpacker<'_>) -> (A, B) {
        (A::unpack(from), B::unpack(from))
    }
}

impl<T: Packed> Packed for Option<T> {
    #[inline(always)]
    fn pack(&self, to: &mut Packer) {
        match self {
            Some(value) => value.pack(to),
            None => to.byte(NONE),
        }
    }

    #[inline(always)]
    fn unpack(from: &mut Unpacker<'_>) -> Option<T> {
        if let [NONE, rest @ ..] = from.rest {
            from.rest = rest;
            return None;
        }
        Some(T::unpack(from))
    }

    #[inline(always)]
    fn is_blank(&self) -> bool {
        self.is_none()
    }

    #[inline(always)]
    fn blank(_: &mut Unpacker<'_>) -> Option<T> {
        None
    }

    #[inline(always)]
    fn unpack_field(from: &mut Unpacker<'_>) -> Option<T> {
        Some(T::unpack(from))
    }
}

/// Packs facts that few pauses have: serde serialises them.
impl<T: Serialize + DeserializeOwned + Default> Packed for Box<T> {
    fn pack(&self, to: &mut Packer) {
        // Writing to memory cannot fail.
        to.slice(&postcard::to_stdvec(self).unwrap_or_default());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Box<T> {
        postcard::from_bytes(from.slice()).unwrap_or_else(|_| {
            from.is_cut = true;
            Box::default()
        })
    }
}
