//! What the elements that check transport headers have in common.

use packet::Packet;
use router::{Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};
use std::marker::PhantomData;

/// A protocol whose header is checked.
pub(super) trait Protocol: Send + 'static {
    /// Its name in messages.
    const NAME: &'static str;
    /// Whether messages name the element, as Click's do but for UDP.
    const NAMES_ELEMENT: bool = true;
    /// Whether an argument can say that checksums are not looked at.
    const MAY_IGNORE_CHECKSUM: bool = true;
    /// What can be wrong, in the order of `drop_details`.
    const REASONS: [&'static str; 3];
    /// What is wrong with this packet, its checksum too if that is to be looked at.
    fn check(packet: &Packet, checksum: bool) -> Result<(), Fault>;
}

/// What is wrong with a packet; the number is an index of [`Protocol::REASONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Protocol = 0,
    Length = 1,
    Checksum = 2,
}

struct HeaderCheck<P> {
    verbose: bool,
    details: bool,
    checksum: bool,
    outputs: usize,
    count: u64,
    drops: [u64; 3],
    protocol: PhantomData<P>,
}

/// Makes the checking element of a protocol.
pub(super) fn create<P: Protocol>(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut verbose, mut details, mut checksum) = (false, false, true);
    let args = config.args().keyword("VERBOSE", &mut verbose).keyword("DETAILS", &mut details);
    match P::MAY_IGNORE_CHECKSUM {
        true => args.keyword("CHECKSUM", &mut checksum).finish()?,
        false => args.finish()?,
    }
    let protocol = PhantomData::<P>;
    Ok(Box::new(PerPacket(HeaderCheck {
        verbose,
        details,
        checksum,
        outputs: config.outputs(),
        count: 0,
        drops: [0; 3],
        protocol,
    })))
}

impl<P: Protocol> HeaderCheck<P> {
    #[cold]
    fn bad(&mut self, cx: &mut Cx<'_>, fault: Fault) -> Verdict {
        let reason = P::REASONS[fault as usize];
        if self.verbose || self.drops == [0; 3] {
            let name = P::NAME;
            let who = if P::NAMES_ELEMENT {
                format!("{} :: Check{name}Header: ", cx.name())
            } else {
                String::new()
            };
            cx.complain(format_args!("{who}{name} header check failed: {reason}"), reason);
        }
        self.drops[fault as usize] += 1;
        elements_shared::verdict::fail(self.outputs, reason)
    }
}

impl<P: Protocol> Simple for HeaderCheck<P> {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match P::check(packet, self.checksum) {
            Ok(()) => {
                self.count += 1;
                Verdict::Pass
            }
            Err(fault) => self.bad(cx, fault),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Self, _| e.count).merged(Merge::Sum);
        h.read("drops", |e: &mut Self, _| e.drops.iter().sum::<u64>()).merged(Merge::Sum);
        if self.details {
            h.read("drop_details", |e: &mut Self, _| {
                let lines = e.drops.iter().zip(P::REASONS).map(|(n, reason)| format!("{n}\t{reason}\n"));
                lines.collect::<String>()
            })
            .merged(Merge::Tally);
        }
    }
}
