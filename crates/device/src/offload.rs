//! Checksums that senders leave to hardware, in frames that never met any.

use crate::segments::complete;

const ETHERNET: usize = 14;
/// Where the checksums are in their headers.
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;

/// Completes the TCP or UDP checksum of an Ethernet frame whose field holds the sum of the pseudo-header only, as hosts on
/// virtual links send it. False, and nothing changed, if there is no such segment.
pub fn finish_checksum(frame: &mut [u8]) -> bool {
    let Some((start, end, protocol)) = transport(frame) else { return false };
    let Some(segment) = frame.get_mut(start..end) else { return false };
    let at = match protocol {
        6 => TCP_CHECKSUM,
        17 => UDP_CHECKSUM,
        _ => return false,
    };
    complete(segment, at)
}

/// Where the transport segment begins and ends, and its protocol; `None` for fragments and extension headers too.
fn transport(frame: &[u8]) -> Option<(usize, usize, u8)> {
    let mut network = ETHERNET;
    let mut ether_type = word(frame, 12)?;
    while matches!(ether_type, 0x8100 | 0x88a8) {
        ether_type = word(frame, network + 2)?;
        network += 4;
    }
    match ether_type {
        0x0800 => {
            let header = usize::from(frame.get(network)? & 0xf) * 4;
            let end = network + usize::from(word(frame, network + 2)?);
            let whole = word(frame, network + 6)? & 0x3fff == 0;
            whole.then_some((network + header, end, *frame.get(network + 9)?))
        }
        0x86dd => {
            let end = network + 40 + usize::from(word(frame, network + 4)?);
            Some((network + 40, end, *frame.get(network + 6)?))
        }
        _ => None,
    }
}

fn word(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*frame.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::checksum::{Sum, pseudo_v4, pseudo_v6};

    /// A frame with a UDP or TCP segment of `len` bytes whose checksum field holds the pseudo-header's sum, and that sum.
    fn unfinished(v6: bool, protocol: u8, len: usize, vlan: bool) -> (Vec<u8>, usize, Sum) {
        let mut frame = vec![0; 12];
        if vlan {
            frame.extend([0x81, 0, 0, 7]);
        }
        let mut segment: Vec<u8> = (0..len).map(|i| i as u8).collect();
        let pseudo = if v6 {
            pseudo_v6([1; 16].into(), [2; 16].into(), protocol, len as u32)
        } else {
            pseudo_v4([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), protocol, len as u16)
        };
        let at = if protocol == 6 { 16 } else { 6 };
        segment[at..at + 2].copy_from_slice(&pseudo.fold().to_be_bytes());
        if v6 {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, len as u8, protocol, 64]);
            frame.extend([[1; 16], [2; 16]].concat());
        } else {
            frame.extend([8, 0, 0x45, 0, 0, 20 + len as u8, 0, 0, 0, 0, 64, protocol, 0, 0]);
            frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        }
        let start = frame.len();
        frame.extend(segment);
        frame.extend([0xee; 3]); // padding is not part of it
        (frame, start, pseudo)
    }

    #[test]
    fn sums_check_out() {
        for (v6, protocol, len, vlan) in
            [(false, 17, 31, false), (false, 6, 40, true), (true, 17, 8, true), (true, 6, 21, false)]
        {
            let (mut frame, start, pseudo) = unfinished(v6, protocol, len, vlan);
            assert!(finish_checksum(&mut frame));
            assert!(pseudo.add_bytes(&frame[start..start + len]).is_all_ones(), "{v6} {protocol}");
        }
    }

    /// Nothing that is cut short or lies about its length is touched, or read beyond its end.
    #[test]
    fn frames_that_are_cut_short_stay_untouched() {
        let (frame, ..) = unfinished(false, 6, 40, true);
        for len in 0..frame.len() - 3 {
            let mut cut = frame[..len].to_vec();
            assert!(!finish_checksum(&mut cut), "{len}");
            assert_eq!(cut, frame[..len]);
        }
    }
}
