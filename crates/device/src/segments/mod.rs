//! Long TCP and UDP segments, as hosts hand them to virtual links: how they are cut into packets, and how packets become one again.
//!
//! A sender that leaves segmentation to hardware hands over one frame of up to 64 KiB, and says beside it, in a [`Note`], how long its
//! segments are to be. [`Cut`] makes the frames that the sender would have sent by itself. [`Train`] is the way back: consecutive
//! segments of a TCP flow become one long frame with a note, if and only if cutting it gives the same segments again.
//!
//! Nothing here knows where frames come from or go to, allocates, or believes a length that it has not checked.

#![forbid(unsafe_code)]

mod copy;
mod cut;
mod merge;
mod note;

pub use cut::Cut;
pub use merge::{HEADERS_MOST, Train};
pub use note::Note;
pub(crate) use note::complete;

/// What is in front of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// An Ethernet header, perhaps with VLAN tags.
    Ethernet,
    /// Nothing.
    None,
}

/// Protocol numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Header lengths.
const IPV4: usize = 20;
const IPV6: usize = 40;
const TCP_LEAST: usize = 20;
const UDP_LEN: usize = 8;
/// Where the checksums are in their headers.
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;
/// Flags of TCP.
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const CWR: u8 = 0x80;

/// The 16 bits at a place.
#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The 32 bits at a place.
#[inline]
fn double(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Where the IP header is, and whether it is that of IPv4; `None` for other packets.
#[inline]
fn network(frame: &[u8], link: Link) -> Option<(usize, bool)> {
    let (at, v4) = match link {
        Link::None => match frame.first()? >> 4 {
            4 => (0, true),
            6 => (0, false),
            _ => return None,
        },
        Link::Ethernet => {
            let (mut at, mut ether_type) = (14, word(frame, 12)?);
            while matches!(ether_type, 0x8100 | 0x88a8) {
                ether_type = word(frame, at + 2)?;
                at += 4;
            }
            match ether_type {
                0x0800 => (at, true),
                0x86dd => (at, false),
                _ => return None,
            }
        }
    };
    (frame.get(at)? >> 4 == if v4 { 4 } else { 6 }).then_some((at, v4))
}

/// The sum of a segment's pseudo-header: the IP header is at the start of `packet`, which must be as long.
#[inline]
fn pseudo(packet: &[u8], v4: bool, protocol: u8, len: usize) -> wire::checksum::Sum {
    use wire::checksum::{pseudo_v4, pseudo_v6};
    fn address<const N: usize>(packet: &[u8], at: usize) -> [u8; N] {
        packet.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }
    if v4 {
        let (from, to) = (address::<4>(packet, 12), address::<4>(packet, 16));
        pseudo_v4(from.into(), to.into(), protocol, len as u16)
    } else {
        let (from, to) = (address::<16>(packet, 8), address::<16>(packet, 24));
        pseudo_v6(from.into(), to.into(), protocol, len as u32)
    }
}
