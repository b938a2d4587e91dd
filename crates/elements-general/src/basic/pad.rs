//! Lengthens packets.
//!
//! ```click
//! Pad([LENGTH, KEYWORDS])
//! ```
//!
//! Packets shorter than LENGTH are extended at the end to LENGTH. Without LENGTH, or if it is 0, each packet grows by
//! the number of bytes in its extra-length annotation. The annotation is 0 afterwards. Packets that would grow too
//! large for any buffer are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LENGTH` (integer, default 0): the minimum length.
//! - `ZERO` (boolean, default true): accepted; new bytes are always zero, so that no data of earlier packets leaks.
//! - `RANDOM` (boolean, default false): whether new bytes are random instead, as in FastClick.
//! - `MAXLENGTH` (integer, default 0): if not 0, packets never grow beyond this length. Packets already longer pass
//!   unchanged.
//! - `VERBOSE` (boolean, default false): whether to report on standard error each packet that MAXLENGTH keeps from
//!   growing.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA x) -> Pad(60) -> Discard
//! ```
//!
//! # See also
//! Truncate, Unstrip

use elements_shared::packet_end::lengthen;
use packet::{Anno, Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Level, Pull};

/// The class.
pub(crate) const CLASS: Class = Class::new("Pad", create).doc(router::manual!("pad.rs"));

struct Pad {
    length: usize,
    /// The length beyond which no packet grows.
    most: usize,
    random: bool,
    verbose: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut length, mut zero, mut random) = (0u32, true, false);
    let (mut most, mut verbose) = (0u32, false);
    config
        .args()
        .positional("LENGTH", &mut length)
        .keyword("ZERO", &mut zero)
        .keyword("RANDOM", &mut random)
        .keyword("MAXLENGTH", &mut most)
        .keyword("VERBOSE", &mut verbose)
        .finish()?;
    let most = if most == 0 { usize::MAX } else { most as usize };
    Ok(Box::new(Pad { length: length as usize, most, random, verbose }))
}

impl Pad {
    /// Bytes that a packet lacks.
    #[inline]
    fn wanted(&self, packet: &Packet) -> usize {
        match self.length {
            0 => packet.anno(Anno::EXTRA_LENGTH) as u32 as usize,
            length => length.saturating_sub(packet.len()),
        }
    }

    /// Bytes that a packet is to get.
    fn missing(&self, cx: &Cx<'_>, packet: &Packet) -> usize {
        let wanted = self.wanted(packet);
        let allowed = self.most.saturating_sub(packet.len());
        if wanted > allowed && self.verbose {
            let (length, most) = (packet.len(), self.most);
            cx.say(
                Level::Warning,
                format_args!(
                    "Tried a too long Pad: {length} + {wanted} > {most} -> adding only {allowed} bytes"
                ),
            );
        }
        wanted.min(allowed)
    }

    /// Lengthens the packets of a batch.
    fn pad_all(&self, cx: &mut Cx<'_>, batch: &mut Batch) {
        // Where they lie, as long as it goes; it nearly always does.
        let done = batch.iter_mut().fold(true, |done, packet| done & self.pad_here(cx, packet));
        if !done {
            // What has been done already lacks nothing now.
            batch.filter_map(|packet| self.pad(cx, packet));
        }
    }

    /// Lengthens a packet in its buffer. False, and nothing changed, if it has no room, or if there is something to be told.
    #[inline]
    fn pad_here(&self, cx: &mut Cx<'_>, packet: &mut Packet) -> bool {
        let (missing, len) = (self.wanted(packet), packet.len());
        if missing != 0 {
            if missing > self.most.saturating_sub(len) || missing > packet.tailroom() || !packet.put(missing)
            {
                return false;
            }
            self.fill(cx, packet, len);
        }
        packet.set_anno(Anno::EXTRA_LENGTH, 0);
        true
    }

    /// Fills what is new from `old` on.
    fn fill(&self, cx: &mut Cx<'_>, packet: &mut Packet, old: usize) {
        let new = &mut packet.data_mut()[old..];
        if self.random { cx.rng().fill(new) } else { new.fill(0) }
    }

    /// Lengthens a packet that may have to move to a larger buffer.
    fn pad(&self, cx: &mut Cx<'_>, mut packet: Packet) -> Option<Packet> {
        let missing = self.missing(cx, &packet);
        packet.set_anno(Anno::EXTRA_LENGTH, 0);
        if missing == 0 {
            return Some(packet);
        }
        match lengthen(cx, packet, missing) {
            Ok(mut packet) => {
                let old = packet.len() - missing;
                self.fill(cx, &mut packet, old);
                Some(packet)
            }
            Err(packet) => {
                cx.drop(packet, "too long for a buffer");
                None
            }
        }
    }
}

impl Element for Pad {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        self.pad_all(cx, &mut batch);
        cx.emit(0, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        self.pad_all(cx, &mut batch);
        Pull::Give(batch)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send};
    use packet::Anno;

    /// Old contents of the buffer do not come back; a monstrous annotation drops the packet.
    #[test]
    fn fills_up_to_the_length_or_the_annotation() {
        let flow = send("Inject -> Truncate(2) -> Pad(4) -> Collect(0)", [b"abcdef".to_vec(), b"x".to_vec()]);
        assert_eq!(flow.data(0), [b"ab\0\0", b"x\0\0\0"]);
        let flow = send("Inject -> Truncate(2) -> Pad -> Collect(0)", [b"abcdef".to_vec(), b"x".to_vec()]);
        assert_eq!(flow.data(0), [b"ab\0\0\0\0".to_vec(), b"x".to_vec()]);
        let sent =
            |extra: u64| Sent { annotations: vec![(Anno::EXTRA_LENGTH, extra)], ..Sent::from(vec![1]) };
        let flow = send("Inject -> Pad -> Collect(0)", [sent(u64::from(u32::MAX)), sent(3000)]);
        assert_eq!(flow.data(0).iter().map(Vec::len).collect::<Vec<_>>(), [3001]);
        assert_eq!(flow.drops(), [("too long for a buffer", 1)]);
        let flow = send("Inject -> Pad(MAXLENGTH 4) -> Collect(0)", [sent(2), sent(9)]);
        assert_eq!(flow.data(0).iter().map(Vec::len).collect::<Vec<_>>(), [3, 4]);
        // One that has to move among others that don't: all keep their order.
        let flow = send(
            "Inject -> Pad -> Collect(0)",
            [sent(1), sent(3000), sent(0), sent(u64::from(u32::MAX)), sent(2)],
        );
        assert_eq!(flow.data(0).iter().map(Vec::len).collect::<Vec<_>>(), [2, 3001, 1, 3]);
        let flow = send("Inject -> Pad(64, RANDOM true) -> Collect(0)", [b"x".to_vec()]);
        let data = &flow.data(0)[0];
        assert!(data.len() == 64 && data[0] == b'x' && data[1..].iter().any(|&byte| byte != data[1]));
    }
}
