//! Sources that read packets from files, pushing them from a task or giving them when they are asked for.

use packet::{Batch, Packet};
use router::Cx;

/// What the next step through a file came to.
pub enum Next {
    /// A packet.
    Packet(Packet),
    /// A record was passed over.
    Skipped,
    /// Nothing before this time.
    Later(i64),
    /// The record that is held lies behind the range that is wanted.
    RangeEnd,
    /// No more packets.
    FileEnd,
}

/// Begins to work, or to say that there may be packets.
pub fn begin(cx: &mut Cx<'_>, pushes: bool, active: bool) {
    if !pushes {
        cx.signals().provide();
    } else if active {
        cx.tasks().schedule();
    }
}

/// Goes on after a rest.
pub fn wake(cx: &mut Cx<'_>, pushes: bool) {
    if pushes { cx.tasks().schedule() } else { cx.signals().set(true) }
}

/// Fills a batch with at most `want` packets, unless so many records are passed over that others shall get their turn; returns
/// what was met then, if that was not the last packet.
pub fn fill<'c>(
    cx: &mut Cx<'c>,
    batch: &mut Batch,
    want: usize,
    skips_max: usize,
    mut next: impl FnMut(&mut Cx<'c>) -> Next,
) -> Option<Next> {
    let mut skips = 0;
    while batch.len() < want && skips < skips_max {
        match next(cx) {
            Next::Packet(packet) => batch.push(packet),
            Next::Skipped => skips += 1,
            met => return Some(met),
        }
    }
    None
}

/// What was met while packets were asked for, if it is an end that they came to; a time that has not come is waited for.
pub fn end(cx: &mut Cx<'_>, batch: &Batch, met: Option<Next>) -> Option<Next> {
    match met {
        // It is met again by the next request.
        Some(_) if !batch.is_empty() => None,
        Some(Next::Later(at_ns)) => {
            cx.timers().at(0, at_ns);
            cx.signals().set(false);
            None
        }
        met => met,
    }
}
