//! What the elements that put extension headers of IPv6 in front of packets have in common.

use super::encap::NO_ROOM;
use packet::Packet;
use router::{Cx, Simple, Verdict};

/// An option of six bytes that means nothing.
pub(super) const PADDING: [u8; 6] = [1, 4, 0, 0, 0, 0];

/// Puts the same header in front of all packets. Where packets are marked as IPv6 packets, the marks stay where they are.
///
/// Each such header is as many times eight bytes as it likes (RFC 8200, section 4), and most have eight: it is written in stores of eight.
pub(super) struct Extension {
    first: [u8; 8],
    rest: Vec<[u8; 8]>,
}

impl Extension {
    /// Puts these bytes in front.
    pub(super) fn new(first: [u8; 8], rest: Vec<[u8; 8]>) -> Extension {
        Extension { first, rest }
    }

    /// Puts the shortest header of options in front, which holds six bytes of them.
    pub(super) fn of_options(next_header: u8, options: [u8; 6]) -> Extension {
        let [a, b, c, d, e, f] = options;
        Extension::new([next_header, 0, a, b, c, d, e, f], Vec::new())
    }

    /// Puts what follows the first eight bytes in front. False if there is no room.
    #[inline]
    fn push_rest(&self, packet: &mut Packet) -> bool {
        let room = packet.prepend(size_of_val(&*self.rest));
        if room {
            let places = packet.data_mut().as_chunks_mut().0;
            places.iter_mut().zip(&self.rest).for_each(|(place, part)| *place = *part);
        }
        room
    }
}

impl Simple for Extension {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if !self.rest.is_empty() && !self.push_rest(packet) {
            return Verdict::Drop(NO_ROOM);
        }
        let Some(place) = packet.push_array() else { return Verdict::Drop(NO_ROOM) };
        *place = self.first;
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{send, send_one};

    /// Each header as RFC 8200, RFC 2711 or RFC 2460 draws it, in front of what was there.
    #[test]
    fn headers_are_as_the_rfcs_draw_them() {
        for (element, header) in [
            ("HopByHopEncap(17)", vec![17, 0, 1, 4, 0, 0, 0, 0]),
            ("DestinationOptionsEncap(PROTO 6)", vec![6, 0, 1, 4, 0, 0, 0, 0]),
            ("RouterAlertEncap(17, 0x102)", vec![17, 0, 5, 2, 1, 2, 1, 0]),
            ("FragmentationEncap(58, 8191, true, 0x01020304)", vec![58, 0, 0xff, 0xf9, 1, 2, 3, 4]),
            ("FragmentationEncap(PROTO 17, M 0, OFFSET 2)", vec![17, 0, 0, 16, 0, 0, 0, 0]),
            (
                "RoutingZeroEncap(17, \" ::1  2001:db8:: \")",
                [&[17, 4, 0, 2, 0, 0, 0, 0][..], &[0; 15], &[1, 0x20, 1, 0x0d, 0xb8], &[0; 12]].concat(),
            ),
        ] {
            let flow = send_one(&format!("Inject -> {element} -> Collect(0)"), b"abc".to_vec());
            assert_eq!(flow.only(0).data(), [&header[..], b"abc"].concat(), "{element}");
        }
    }

    /// A whole packet of the headers in a row, as RFC 8200 orders them.
    #[test]
    fn headers_in_a_row_make_a_packet_that_checks() {
        let config = "Inject -> FragmentationEncap(17, 0, false, 7) -> HopByHopEncap(44)
            -> IP6Encap(0, 2001:db8::1, 2001:db8::2) -> CheckIP6Header(PROCESS_EH true) -> Collect(0)";
        let flow = send(config, [vec![7; 8]]);
        assert_eq!(flow.only(0).transport_offset(), Some(56));
    }

    #[test]
    fn bad_arguments() {
        for (element, message) in [
            ("HopByHopEncap", "PROTO: required argument missing"),
            ("HopByHopEncap(256)", "PROTO: out of range, bound 255"),
            ("RouterAlertEncap(17)", "OPTION: required argument missing"),
            ("FragmentationEncap(17, 8192, 0)", "OFFSET should be an integer between 0 and 8191"),
            (
                "RoutingZeroEncap(17, \"::1 1.2.3.4 ::2\")",
                "The address '1.2.3.4' is not a valid IPv6 address",
            ),
        ] {
            let text = errors(&format!("Idle -> {element} -> Discard"));
            assert!(text.contains(message), "{element}: {text}");
        }
    }
}
