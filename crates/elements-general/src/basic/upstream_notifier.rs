//! Tells upstream sources whether there is room, under control of a handler.
//!
//! ```click
//! UpstreamNotifier([SIGNAL])
//! ```
//!
//! Passes every packet on. While its signal is not active, upstream sources such as InfiniteSource sleep, as they do
//! in front of a full queue. Tests use it to switch sources on and off.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `SIGNAL` (boolean, default true): whether the signal is active, that is, whether there is room.
//!
//! # Handlers
//! - `signal` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> n :: UpstreamNotifier(false) -> Discard;
//! Script(wait 1, write n.signal true)
//! ```
//!
//! # See also
//! NotifierDebug, FullNoteQueue, PullNull, Script

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("UpstreamNotifier", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(router::manual!("upstream_notifier.rs"));

struct UpstreamNotifier {
    signal: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = UpstreamNotifier { signal: true };
    config.args().positional("SIGNAL", &mut e.signal).finish()?;
    Ok(Box::new(e))
}

impl UpstreamNotifier {
    fn tell(&self, cx: &mut Cx<'_>) {
        cx.signals().set_room(if self.signal { usize::MAX } else { 0 });
    }
}

impl Element for UpstreamNotifier {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide_room();
        self.tell(cx);
        Ok(())
    }

    #[inline]
    fn push_one(&mut self, _cx: &mut Cx<'_>, _port: usize, _packet: &mut Packet) -> Option<Verdict> {
        Some(Verdict::Pass)
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.emit(0, batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("signal", |e: &mut UpstreamNotifier, _| e.signal);
        h.write("signal", |e: &mut UpstreamNotifier, cx, text| {
            e.signal = router::value(cx, text)?;
            e.tell(cx);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// A source makes nothing until there is room, and what it makes then passes.
    #[test]
    fn switches_sources() {
        let config = "InfiniteSource(LIMIT 9) -> Null -> n :: UpstreamNotifier(false) -> d :: Discard; Script(wait 1, stop)";
        assert_eq!(run_and_read(config, &["d.count", "n.signal"]), ["0", "false"]);
        let config = "InfiniteSource(LIMIT 9) -> n :: UpstreamNotifier(SIGNAL false) -> d :: Discard;
                      Script(wait 1, write n.signal true, wait 1, stop)";
        assert_eq!(run_and_read(config, &["d.count", "n.signal"]), ["9", "true"]);
    }
}
