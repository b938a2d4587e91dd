//! Shows the state of a notifier.
//!
//! ```click
//! NotifierDebug
//! ```
//!
//! Passes every packet on. Its handler shows whether elements that pull here are told that packets are available or,
//! on a push path, whether elements are told that there is room.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: worker 0.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `signal` (read): in Click's notation, for instance `empty.0/1:1*`. First comes the kind of notifier: `empty` if
//!   it tells whether there are packets, `full` if it tells whether there is room. After the slash, in hexadecimal,
//!   comes the set of notifiers of this kind that matter here, one bit each in the order in which they were created;
//!   after the colon, those of them that are active; and then a star if any is. `busy*` means that there is no
//!   notifier, so elements must simply keep pulling, or pushing.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 3) -> Queue -> n :: NotifierDebug -> Discard;
//! DriverManager(wait 1, print n.signal)
//! ```
//!
//! # See also
//! UpstreamNotifier, NotifierQueue

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("NotifierDebug", create)
    .residency(Residency::Exclusive)
    .doc(router::manual!("notifier_debug.rs"));

/// Bits of one word of signals.
const WORD: usize = 32;

struct NotifierDebug {
    pull: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(NotifierDebug { pull: false })))
}

impl Simple for NotifierDebug {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        Verdict::Pass
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.pull = cx.info().nodes[cx.index()].inputs.first().is_some_and(|port| !port.push);
        if self.pull {
            cx.signals().relay(0)
        } else {
            cx.signals().watch_room(0)
        }
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("signal", |e: &mut NotifierDebug, cx| match e.pull {
            true => unparse("empty", &cx.signals().above(0)),
            false => unparse("full", &cx.signals().below(0)),
        });
    }
}

/// Signals, by number and whether they are active, as Click writes them.
fn unparse(kind: &str, signals: &[(usize, bool)]) -> String {
    if signals.is_empty() {
        return "busy*".to_owned();
    }
    let mut words: Vec<(u32, u32)> = Vec::new();
    for &(number, active) in signals {
        let (word, bit) = (number / WORD, 1 << (number % WORD));
        words.resize(words.len().max(word + 1), (0, 0));
        words[word].0 |= bit;
        words[word].1 |= if active { bit } else { 0 };
    }
    let wanted = words.iter().enumerate().filter(|(_, (mask, _))| *mask != 0);
    let texts: Vec<String> = wanted
        .map(|(word, (mask, active))| {
            format!("{kind}.{word}/{mask:x}:{active:x}{}", if *active != 0 { "*" } else { "" })
        })
        .collect();
    texts.join("+")
}

#[cfg(test)]
mod tests {
    use super::unparse;
    use crate::testing::run_and_read;

    #[test]
    fn signals_are_written_as_click_writes_them() {
        assert_eq!(unparse("empty", &[]), "busy*");
        assert_eq!(unparse("full", &[(0, false), (5, true)]), "full.0/21:20*");
        assert_eq!(unparse("empty", &[(33, false), (2, true)]), "empty.0/4:4*+empty.1/2:0");
    }

    #[test]
    fn a_puller_sees_the_signals_upstream() {
        let config = "i :: InfiniteSource(LIMIT 3) -> q :: Queue -> n :: NotifierDebug -> Unqueue(ACTIVE false) -> Discard; Script(wait 1, stop)";
        assert_eq!(run_and_read(config, &["n.signal"]), ["empty.0/1:1*"]);
        let config = "Idle -> Queue -> [0] s :: RoundRobinSched; InfiniteSource(LIMIT 2) -> Queue -> [1] s; s -> n :: NotifierDebug -> Discard;
                      InfiniteSource(LIMIT 2) -> Queue -> m :: NotifierDebug -> Idle; Script(wait 1, stop)";
        let read = run_and_read(config, &["n.signal", "m.signal"]);
        assert!(read[0].ends_with(":0") && read[1].ends_with('*'), "{read:?}");
    }

    #[test]
    fn a_pusher_sees_the_signals_downstream() {
        let config = "InfiniteSource(LIMIT 3) -> n :: NotifierDebug -> u :: UpstreamNotifier -> m :: NotifierDebug -> Discard;
                      Script(wait 1, write u.signal false, wait 1, stop)";
        assert_eq!(run_and_read(config, &["n.signal", "m.signal"]), ["full.0/1:0", "busy*"]);
    }
}
