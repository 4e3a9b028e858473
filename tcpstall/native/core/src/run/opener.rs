//! How the name of an input becomes a capture.

use std::fmt;
use std::sync::Arc;

use crate::capture::{Capture, CaptureError};

type Open = dyn Fn(&str) -> Result<Capture, CaptureError> + Send + Sync;

/// How the name of an input becomes a capture: as a file, unless whoever runs it knows better.
#[derive(Clone, Default)]
pub struct Opener(Option<Arc<Open>>);

impl Opener {
    /// Names become captures so. A name may come twice: to see where it begins, and to be read.
    pub fn new(open: impl Fn(&str) -> Result<Capture, CaptureError> + Send + Sync + 'static) -> Opener {
        Opener(Some(Arc::new(open)))
    }

    /// Opens it.
    pub fn open(&self, name: &str) -> Result<Capture, CaptureError> {
        self.0.as_ref().map_or_else(|| Capture::open(name), |open| open(name))
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Opener(..)" } else { "Opener" })
    }
}
