//! Packets that become longer or shorter at their end.

use packet::{Anno, Packet};
use router::Cx;

/// Adds bytes of zero at the end.
///
/// # Errors
/// The packet itself: there is no buffer that is long enough.
pub fn lengthen(cx: &mut Cx<'_>, packet: Packet, bytes: usize) -> Result<Packet, Packet> {
    let mut packet = cx.pool().reserve(packet, 0, bytes)?;
    let old = packet.len();
    if !packet.put(bytes) {
        return Err(packet);
    }
    packet.data_mut()[old..].fill(0);
    Ok(packet)
}

/// Cuts so many bytes off a packet's end, and perhaps adds them to its annotation.
#[inline]
pub fn cut(packet: &mut Packet, surplus: usize, annotate: bool) {
    if surplus == 0 {
        return;
    }
    let _ = packet.take(surplus); // there are as many
    if annotate {
        let extra = packet.anno(Anno::EXTRA_LENGTH) as u32;
        packet.set_anno(Anno::EXTRA_LENGTH, u64::from(extra.wrapping_add(surplus as u32)));
    }
}

/// Writes bytes that reach beyond a packet's end, with zeros up to them. False, and nothing changed, if the packet cannot be as long.
pub fn write_behind_end(packet: &mut Packet, offset: usize, bytes: [u8; 8]) -> bool {
    let (old, end) = (packet.len(), offset.saturating_add(8));
    if !packet.put(end.saturating_sub(old)) {
        return false;
    }
    packet.data_mut()[old..].fill(0);
    packet.data_mut()[offset..end].copy_from_slice(&bytes);
    true
}
