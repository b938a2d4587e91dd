//! Decision programs for the usual packet: no IP options, no extension headers.
//!
//! There the transport header lies at a known place behind the network header, so that one base does for all offsets, words of
//! both headers are compared at once, and nothing has to be found out about the packet beforehand.

use super::compiled::Front;
use super::expr::{DIGEST, MAC, NETWORK, PART, TRANSPORT};
use super::names::Family;
use super::program::{Program, Test};
use packet::Packet;
use wire::{ipv4, ipv6};

/// What begins with the network header of a packet, if it is a usual one.
#[inline(always)] // for every packet
pub(super) fn network(packet: &Packet, family: Family) -> Option<&[u8]> {
    match family {
        Family::V4 => packet.network_of::<{ ipv4::HEADER_LEN }>(),
        Family::V6 => packet.network().filter(|network| has_usual_header(network, 0, family)),
    }
}

/// The same for a program that reaches so far.
#[inline(always)] // for every packet
pub(super) fn front(packet: &Packet, family: Family, reach: u32) -> Option<Front<'_>> {
    match family {
        Family::V4 => packet.wide_network_of::<{ ipv4::HEADER_LEN }, _>(reach).map(Front::new),
        Family::V6 => {
            let wide = packet.wide_network(reach.max(ipv6::HEADER_LEN as u32))?;
            let header = wide.0.first_chunk::<{ ipv6::HEADER_LEN }>()?;
            has_usual_header(header, 0, family).then(|| Front::new(wide))
        }
    }
}

/// Whether `network` begins with a usual header where the annotations say that it has this length.
#[inline(always)]
pub(super) fn has_usual_header(network: &[u8], header_len: usize, family: Family) -> bool {
    match family {
        Family::V4 => header_len == ipv4::HEADER_LEN,
        // Where IPv6's headers end the packet itself says.
        Family::V6 => {
            ipv6::Header::new_checked(network).is_ok_and(|ip| !ipv6::is_extension(ip.next_header()))
        }
    }
}

/// The program for usual packets that does what a program does; none if that looks at the link-layer header.
pub(super) fn program(program: &Program, family: Family) -> Option<Program> {
    let tests = program.tests.iter().map(|test| seen_from_network(*test, family)).collect::<Option<_>>()?;
    Some(Program { tests, otherwise: program.otherwise })
}

fn seen_from_network(test: Test, family: Family) -> Option<Test> {
    let header_len = if family == Family::V6 { ipv6::HEADER_LEN } else { ipv4::HEADER_LEN };
    match test.offset {
        _ if test.mask == 0 => Some(test),
        MAC..NETWORK => None,
        NETWORK..TRANSPORT => Some(test),
        TRANSPORT..DIGEST => Some(Test { offset: test.offset - TRANSPORT + NETWORK + header_len, ..test }),
        DIGEST => Some(of_protocol(test)),
        _ => None,
    }
}

/// The test of a digest: its first byte is the protocol, which the fixed header has; the others are zero for a usual packet.
fn of_protocol(test: Test) -> Test {
    const PROTOCOL: u32 = 0xff00_0000;
    let moved = |word: u32| (word & PROTOCOL) >> 16; // from the first byte of a word to the third
    let possible = test.value & !PROTOCOL == 0;
    let yes = if possible { test.yes } else { test.no };
    Test { offset: NETWORK + 4, mask: moved(test.mask), value: moved(test.value), yes, ..test }
}

const _: () = assert!(NETWORK / PART == 2 && TRANSPORT / PART == 3 && DIGEST / PART == 4);
