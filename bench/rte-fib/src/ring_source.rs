//! Sends packets out of a ring in memory, to addresses of a list.
//!
//! ```click
//! RingSource()
//! ```
//!
//! Each packet is a copy of the ring's next frame, as a driver that copies makes it, with the list's next address as its
//! destination. Rings and lists are the program's (`Traffic`).
//!
//! Ports: 1 output. Processing: push. Workers: one.
//!
//! # Handlers
//! - `send` (write, `LIST RING PACKETS`): sends so many packets, in batches as large as the router's vector: to the addresses of a list, from
//!   its first on, with the frames of a ring, from where it is. Lists and rings are numbered from 0. Packets are numbered by annotation.
//!
//! # Example
//! ```click
//! RingSource -> CheckIPHeader -> Discard
//! ```
//!
//! # See also
//! Sink

use packet::Anno;
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::net::Ipv4Addr;
use std::sync::Arc;
use wire::ip_proto;
use wire::ipv4::{HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("RingSource", create)
    .ports("0/1")
    .processing("/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("as many as it is told")
    .doc(router::manual!("ring_source.rs"));

/// Frames of one length, one after the other.
pub struct Ring {
    bytes: Vec<u8>,
    frame: usize,
}

impl Ring {
    /// A ring with frames of so many octets, at least one and so many as fit into `bytes`. They are IPv4 packets without a destination.
    pub fn new(bytes: usize, frame: usize) -> Ring {
        let frame = frame.clamp(HEADER_LEN, 1500);
        let mut sample = vec![0; frame];
        if let Ok(mut header) = Header::new_checked_mut(&mut sample) {
            header.set_version_and_header_len(HEADER_LEN);
            header.set_total_len(frame as u16);
            header.set_ttl(64);
            header.set_protocol(ip_proto::UDP);
            header.set_src(Ipv4Addr::new(192, 0, 2, 1));
            header.fill_checksum();
        }
        Ring { bytes: sample.repeat((bytes / frame).max(1)), frame }
    }

    /// The frame at a place, and the place of the next.
    #[inline]
    fn frame(&self, place: usize) -> (&[u8], usize) {
        let end = place + self.frame;
        (&self.bytes[place..end], if end < self.bytes.len() { end } else { 0 })
    }
}

/// What sources send: a resource of the router.
pub struct Traffic {
    /// Lists of destinations, none of them empty.
    pub lists: Vec<Vec<u32>>,
    /// Rings of frames.
    pub rings: Vec<Ring>,
}

struct RingSource {
    traffic: Arc<Traffic>,
    list: usize,
    ring: usize,
    /// The next frame's place in the ring.
    place: usize,
    /// The next destination's place in the list.
    at: usize,
    /// Packets of this order that were sent, and that are to be sent.
    sent: usize,
    left: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    let traffic = config.resource::<Arc<Traffic>>().ok_or("this program has no rings")?.clone();
    Ok(Box::new(RingSource { traffic, list: 0, ring: 0, place: 0, at: 0, sent: 0, left: 0 }))
}

impl RingSource {
    fn order(&mut self, text: &str) -> Result<(), String> {
        let numbers: Vec<usize> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let [list, ring, packets] = numbers[..] else {
            return Err("expected 'LIST RING PACKETS'".to_owned());
        };
        if list >= self.traffic.lists.len() || ring >= self.traffic.rings.len() {
            return Err("no such list or ring".to_owned());
        }
        if ring != self.ring {
            self.place = 0;
        }
        (self.list, self.ring, self.at, self.sent, self.left) = (list, ring, 0, 0, packets);
        Ok(())
    }
}

impl Element for RingSource {
    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let traffic = &*self.traffic;
        let (ring, list) = (&traffic.rings[self.ring], &traffic.lists[self.list]);
        let mut batch = cx.batch();
        for _ in 0..self.left.min(cx.vector()) {
            let (frame, next) = ring.frame(self.place);
            let Some(mut packet) = cx.pool().packet(frame) else { break };
            if let Some((header, _)) = packet.data_mut().split_first_chunk_mut::<HEADER_LEN>() {
                Header::new(header).update_dst(Ipv4Addr::from(list[self.at]));
            }
            packet.set_anno(Anno::PACKET_NUMBER, self.sent as u64);
            batch.push(packet);
            self.at = if self.at + 1 < list.len() { self.at + 1 } else { 0 };
            (self.place, self.sent) = (next, self.sent + 1);
        }
        self.left -= batch.len();
        if self.left > 0 {
            cx.tasks().schedule();
        }
        cx.emit(0, batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.write("send", |e: &mut RingSource, cx, text| {
            e.order(text)?;
            cx.tasks().schedule();
            Ok(())
        });
    }
}
