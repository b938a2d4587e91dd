//! What a receive queue is fed from.

use std::sync::Arc;

use super::ring::FrameRing;
use crate::frames::FrameSet;

/// Where the frames come from, and how far they have been handed out.
#[derive(Debug, Clone)]
pub(super) enum Feeder {
    Frames { set: Arc<FrameSet>, next: usize, left: Option<u64> },
    Ring(Arc<FrameRing>),
}

impl Feeder {
    pub(super) fn frames(set: Arc<FrameSet>, start: usize, limit: Option<u64>) -> Feeder {
        let next = if set.is_empty() { 0 } else { start % set.len() };
        Feeder::Frames { set, next, left: limit }
    }
}
