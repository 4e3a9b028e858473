//! Explains why each TCP sender waited: packets to flows, flows to stalls, stalls to causes.
//!
//! The modules are layers; each uses only those to the right of it:
//! `pair → engine → replay → results → exchange → causes → pause → sender → flow → anonymise → wire → capture → floor`.
//! The floor is `seq | time | packet_no | state | vec_growth | vec_chunks | json | traits`. Beside these layers: `copy → anonymise`.
#![forbid(unsafe_code)]

pub mod anonymise;
pub mod capture;
pub mod causes;
pub mod copy;
pub mod engine;
pub mod exchange;
pub mod few;
pub mod flow;
mod json;
pub mod packet_no;
pub mod pair;
pub mod pause;
pub mod replay;
pub mod results;
pub mod sender;
pub mod seq;
pub mod state;
pub mod time;
pub mod traits;
pub mod vec_chunks;
pub mod vec_growth;
pub mod wire;
mod words;
