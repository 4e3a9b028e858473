//! Views of what a capture does not show.

/// Assumption about the unknown effects of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The best case.
    Hopeful,
    /// The likeliest case.
    Likely,
    /// The worst case.
    Doubtful,
}

impl View {
    /// All three views.
    pub const ALL: [View; 3] = [View::Hopeful, View::Likely, View::Doubtful];

    pub(super) fn pick<T>(self, hopeful: T, likely: T, doubtful: T) -> T {
        match self {
            View::Hopeful => hopeful,
            View::Likely => likely,
            View::Doubtful => doubtful,
        }
    }
}
