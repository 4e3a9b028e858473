//! Why a TCP connection waited: packets to flows, flows to stalls, stalls to causes.
//!
//! The modules are layers and arrows only point down:
//! `pair → run → replay → tables → exchange → causes → gap → sender → flow → disguise → wire → capture → seq | time | size | state | list | traits`, and
//! beside them `copy → disguise`.
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
