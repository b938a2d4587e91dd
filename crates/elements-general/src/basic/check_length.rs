//! Lets through packets that are not too long.
//!
//! ```click
//! CheckLength(LENGTH [, KEYWORDS])
//! ```
//!
//! Packets longer than LENGTH leave by output 1 if it is connected, and are dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic, but output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `LENGTH` (integer): the maximum length, in bytes.
//! - `EXTRA_LENGTH` (boolean, default false): whether the extra-length annotation counts as well.
//!
//! # Handlers
//! - `length` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> c :: CheckLength(1500) -> Discard;
//! c [1] -> Print(long) -> Discard;
//! ```
//!
//! # See also
//! Truncate, Pad

use elements_shared::verdict::reject;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckLength", create)
    .pure()
    .ports("1/1-2")
    .processing("a/ah")
    .live()
    .doc(router::manual!("check_length.rs"));

struct CheckLength {
    length: usize,
    extra: bool,
    second: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut length, mut extra) = (0u32, false);
    config.args().required("LENGTH", &mut length).keyword("EXTRA_LENGTH", &mut extra).finish()?;
    let second = config.outputs() > 1;
    Ok(Box::new(PerPacket(CheckLength { length: length as usize, extra, second })))
}

impl Simple for CheckLength {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let extra = if self.extra { packet.anno(Anno::EXTRA_LENGTH) as u32 as usize } else { 0 };
        if packet.len().saturating_add(extra) <= self.length {
            return Verdict::Pass;
        }
        reject(self.second, "too long")
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("length", |e: &mut CheckLength, _| e.length);
        h.write("length", |e: &mut CheckLength, cx, text| {
            e.length = router::value::<u32>(cx, text)? as usize;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn longer_packets_leave_at_output_1() {
        let packets = || [vec![0; 3], vec![0; 4], vec![0; 5]];
        let flow = send("Inject -> c :: CheckLength(4) -> Collect(0); c[1] -> Collect(1)", packets());
        assert_eq!((flow.data(0).len(), flow.data(1)), (2, vec![vec![0; 5]]));
        let flow =
            send("Inject -> Truncate(4) -> CheckLength(4, EXTRA_LENGTH true) -> Collect(0)", packets());
        assert_eq!((flow.data(0).len(), flow.drops()), (2, vec![("too long", 1)]));
    }
}
