//! Explains why each TCP sender waited: packets to flows, flows to stalls, stalls to causes.
//!
//! The modules are layers; each uses only those to the right of it:
//! `pair → run → replay → tables → exchange → causes → gap → sender → flow → disguise → wire → capture → floor`.
//! The floor is `seq | time | size | state | list | traits`. Beside these layers: `copy → disguise`.
#![forbid(unsafe_code)]

pub mod capture;
pub mod causes;
pub mod copy;
pub mod disguise;
pub mod exchange;
pub mod flow;
pub mod gap;
pub mod list;
pub mod pair;
pub mod replay;
pub mod run;
pub mod sender;
pub mod seq;
pub mod size;
pub mod state;
pub mod tables;
pub mod time;
pub mod traits;
pub mod wire;
