//! Frames from a capture.

use super::{Ethernet, emit};
use crate::capture::{self, LinkType, Reader};
use crate::frames::{Builder, FrameSet, Kind};

/// What [`replay`] took from a capture.
#[derive(Debug)]
pub struct Replay {
    /// The frames, all of them Ethernet.
    pub frames: FrameSet,
    /// Records that could not be used: bad, not Ethernet, or no IP where new Ethernet headers were asked for.
    pub skipped: u64,
    /// The error that ended the capture early, if one did; the frames before it are good.
    pub error: Option<capture::Error>,
}

/// Reads frames from a capture, up to `frames_max` frames and about `bytes_max` bytes, never more.
///
/// Without `ethernet`, Ethernet frames are taken as they are and others skipped. With it, the IP packet of each
/// record, whatever its link type, gets an Ethernet header with these addresses, and what is not IP is skipped.
/// Packets that were cut when they were captured stay cut.
pub fn replay(
    reader: &mut Reader,
    frames_max: usize,
    bytes_max: usize,
    ethernet: Option<Ethernet>,
) -> Replay {
    let mut frames = Builder::new();
    let mut skipped = 0;
    let mut error = None;
    let mut buf = Vec::new();
    while frames.len() < frames_max {
        let record = match reader.next(&mut buf) {
            Ok(Some(record)) => record,
            Ok(None) => break,
            Err(found) => {
                error = Some(found);
                break;
            }
        };
        if frames.bytes_total() + emit::ETHERNET_LEN + buf.len() > bytes_max {
            break;
        }
        let pushed = match (ethernet, record.linktype.ip_offset(&buf)) {
            (None, _) if record.linktype == LinkType::Ethernet => frames.push(Kind::Captured, &buf),
            (Some(addresses), Some(offset)) => {
                frames.push_with(Kind::Captured, |out| readdressed(out, addresses, &buf[offset..]))
            }
            _ => {
                skipped += 1;
                continue;
            }
        };
        if pushed.is_err() {
            break;
        }
    }
    skipped += reader.skipped();
    Replay { frames: frames.build(), skipped, error }
}

/// Appends an IP packet behind a new Ethernet header; its first byte is there and tells the version.
fn readdressed(out: &mut Vec<u8>, addresses: Ethernet, ip: &[u8]) {
    let is_ipv4 = ip.first().is_some_and(|first| first >> 4 == 4);
    emit::ethernet(out, addresses, if is_ipv4 { emit::ETHERTYPE_IPV4 } else { emit::ETHERTYPE_IPV6 });
    out.extend_from_slice(ip);
}
