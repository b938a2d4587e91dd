//! Lengthens or shortens packets at both ends.
//!
//! ```click
//! Resize([HEAD, TAIL])
//! ```
//!
//! Adds HEAD bytes before the data and TAIL bytes after it; a negative number removes that many, at most all. Bytes
//! added at the front are those that were stripped before, if any; bytes added at the end are zero. Packets that grow
//! too large for a buffer are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `HEAD`, `TAIL` (integer, default 0): bytes.
//!
//! # Handlers
//! - `head`, `tail` (read, write): the arguments.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA abcdef) -> Resize(-2, 4) -> Print -> Discard
//! ```
//!
//! # See also
//! Strip, Unstrip, Truncate, Pad

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("Resize", create).pure().live().doc(router::manual!("resize.rs"));

struct Resize {
    head: i32,
    tail: i32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut head, mut tail) = (0i32, 0i32);
    config.args().positional("HEAD", &mut head).positional("TAIL", &mut tail).finish()?;
    Ok(Box::new(PerPacket(Resize { head, tail })))
}

/// Bytes to take away, of so many.
fn less(by: i32, len: usize) -> usize {
    (by.unsigned_abs() as usize).min(len)
}

/// Adds bytes in front, or takes some away. False if there is no room.
#[inline]
fn resize_head(packet: &mut Packet, by: i32) -> bool {
    if by > 0 { packet.push(by as usize) } else { packet.pull(less(by, packet.len())) }
}

/// The same behind.
#[inline]
fn resize_tail(packet: &mut Packet, by: i32) -> bool {
    if by <= 0 {
        return packet.take(less(by, packet.len()));
    }
    let old = packet.len();
    let has_room = packet.put(by as usize);
    if has_room {
        packet.data_mut()[old..].fill(0); // nothing of earlier packets leaks
    }
    has_room
}

impl Simple for Resize {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match resize_head(packet, self.head) && resize_tail(packet, self.tail) {
            true => Verdict::Pass,
            false => Verdict::Drop("too long for a buffer"),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("head", |e: &mut Resize, _| e.head);
        h.write("head", |e: &mut Resize, cx, text| {
            e.head = router::value(cx, text)?;
            Ok(())
        })
        .to_everywhere();
        h.read("tail", |e: &mut Resize, _| e.tail);
        h.write("tail", |e: &mut Resize, cx, text| {
            e.tail = router::value(cx, text)?;
            Ok(())
        })
        .to_everywhere();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;

    /// All four directions, and more than there is.
    #[test]
    fn grows_and_shrinks_at_both_ends() {
        let resized = |arguments: &str| {
            let config = format!("Inject -> Strip(2) -> Resize({arguments}) -> Collect(0)");
            send_one(&config, b"abcdef".to_vec()).data(0).concat()
        };
        assert_eq!(resized(""), b"cdef");
        assert_eq!(resized("1, 2"), b"bcdef\0\0");
        assert_eq!(resized("-1, TAIL -2"), b"d");
        assert_eq!(resized("HEAD -2147483648, TAIL -2147483648"), b"");
        assert_eq!(resized("TAIL 3, HEAD -9"), b"\0\0\0");
        let flow = send_one("Inject -> Resize(0, 2147483647) -> Collect(0)", b"abc".to_vec());
        assert_eq!((flow.seen.len(), flow.drops()), (0, vec![("too long for a buffer", 1)]));
    }
}
