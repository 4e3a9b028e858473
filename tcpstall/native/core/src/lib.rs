//! Explains why each TCP sender waited: packets are grouped into flows, flows yield stalls, rules name each stall's
//! cause.
//!
//! The modules are layers; each uses only those to the right of it:
//! `pair → run → replay → tables → exchange → causes → gap → sender → flow → disguise → wire → capture → floor`, where
//! the
//! floor is `seq | time | size | state | list | traits`. Beside them: `copy → disguise`.
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
