//! Opens an input by its name.

use std::fmt;
use std::sync::Arc;

use crate::capture::{Capture, CaptureError};

type Open = dyn Fn(&str) -> Result<Capture, CaptureError> + Send + Sync;

/// Opens an input by its name: as a file, unless the caller supplies a function.
#[derive(Clone, Default)]
pub struct Opener(Option<Arc<Open>>);

impl Opener {
    /// An opener with a function of the caller. A name may be opened twice: once to find its first packet, and once to
    /// read it.
    pub fn new(open: impl Fn(&str) -> Result<Capture, CaptureError> + Send + Sync + 'static) -> Opener {
        Opener(Some(Arc::new(open)))
    }

    /// Names are those of files.
    pub(super) fn opens_files(&self) -> bool {
        self.0.is_none()
    }

    /// Opens the input with that name.
    pub fn open(&self, name: &str) -> Result<Capture, CaptureError> {
        self.0.as_ref().map_or_else(|| Capture::open(name), |open| open(name))
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Opener(..)" } else { "Opener" })
    }
}
