//! Puts ICMP and IP headers in front of packets.

use super::super::encap::{Destination, NO_FIT, Template, push_headers};
use elements_shared::identification::Identification;
use packet::Packet;
use router::{Config, Cx, Handlers, Simple, Verdict};
use std::any::Any;
use std::net::Ipv4Addr;
use wire::checksum::Sum;
use wire::icmpv4::{self, kind};
use wire::{ip_proto, ipv4};

/// Bytes of both headers.
const HEADERS: usize = ipv4::HEADER_LEN + icmpv4::HEADER_LEN;

/// An element that does so.
pub(super) struct IcmpEncap {
    template: Template<HEADERS>,
    kind: u8,
    code: u8,
    identifier: u16,
    /// Identification of the next packet, and its sequence number: never 0.
    id: Identification,
}

/// Whether messages of this type have an identifier and a sequence number.
fn is_sequenced(kind: u8) -> bool {
    matches!(
        kind,
        kind::ECHO
            | kind::ECHO_REPLY
            | kind::TIMESTAMP
            | kind::TIMESTAMP_REPLY
            | kind::INFORMATION_REQUEST
            | kind::INFORMATION_REPLY
    )
}

/// Bytes of a message's header. That of timestamp messages has three times behind the common part.
fn header_len(kind: u8) -> usize {
    match kind {
        kind::TIMESTAMP | kind::TIMESTAMP_REPLY => 20,
        _ => icmpv4::HEADER_LEN,
    }
}

impl IcmpEncap {
    pub(super) fn new(
        config: &Config<'_>,
        src: Ipv4Addr,
        dst: Ipv4Addr,
        [kind, code]: [u8; 2],
        identifier: u16,
    ) -> IcmpEncap {
        let template = Template::of(ip_proto::ICMP, 255, src, Destination::Address(dst));
        IcmpEncap { template, kind, code, identifier, id: Identification::new(config, 1, &[]) }
    }

    /// None if the packet becomes too long.
    #[inline]
    fn encapsulate(&self, packet: &mut Packet) -> Option<()> {
        // Three times that stay zero, which no sum shows.
        let times = header_len(self.kind) - icmpv4::HEADER_LEN;
        u16::try_from(packet.len() + times + HEADERS).ok()?;
        let mut header = [self.kind, self.code, 0, 0, 0, 0, 0, 0];
        if is_sequenced(self.kind) {
            header[4..6].copy_from_slice(&self.identifier.to_be_bytes());
            header[6..8].copy_from_slice(&self.id.get().to_be_bytes());
        }
        // The sum comes before the header is written: loads of what was just stored would wait.
        let sum = Sum::of(packet.data()).add_bytes(&header);
        header[2..4].copy_from_slice(&sum.checksum().to_be_bytes());
        if times > 0 {
            if !packet.prepend(times) {
                return None;
            }
            packet.data_mut().get_mut(..times)?.fill(0);
        }
        push_headers::<false, HEADERS>(packet, &self.template, self.id, move |rest| {
            rest.copy_from_slice(&header)
        })
    }
}

impl Simple for IcmpEncap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.encapsulate(packet).is_none() {
            return Verdict::Drop(NO_FIT);
        }
        self.id.take();
        if self.id.get() == 0 {
            self.id.take();
        }
        Verdict::Pass
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.id))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Some(id) = state.downcast_ref() {
            self.id.go_on(*id);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("src", |e: &mut IcmpEncap, _| e.template.src());
        h.write("src", |e: &mut IcmpEncap, cx, text| {
            let src = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            e.template.set_src(src);
            Ok(())
        });
        h.read("dst", |e: &mut IcmpEncap, _| e.template.destination());
        h.write("dst", |e: &mut IcmpEncap, cx, text| {
            let dst = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            e.template.set_destination(Destination::Address(dst));
            Ok(())
        });
    }
}
