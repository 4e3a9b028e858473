//! Enumerations with public names: each is listed once, and others iterate the list.

/// Defines an enumeration, its names in reports, and the list of its values.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $type:ident { $($(#[$doc:meta])* $value:ident = $name:literal,)* }) => {
        $(#[$meta])*
        pub enum $type {
            $($(#[$doc])* $value,)*
        }

        impl $type {
            /// Every value, in order.
            pub const ALL: &[$type] = &[$($type::$value),*];

            /// Name in reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)*
                }
            }
        }
    };
}

pub(crate) use words;
