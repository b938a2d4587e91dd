//! AES-GMAC (RFC 4543): packets can be read, but not changed.

use super::gcm::Gcm;
use super::{CHECK_LEN, HEADER_LEN, Head, IV_LEN, Place, SALT_LEN, nonce};

/// The high half of an extended sequence number, which is not in the packet.
const HIGH_LEN: usize = 4;

/// AES-GMAC with its key and salt.
#[repr(C)]
pub(crate) struct Gmac {
    salt: [u8; SALT_LEN],
    gcm: Gcm,
}

impl Gmac {
    /// By a key of 16 or 32 octets, and a salt.
    pub(crate) fn new(key: &[u8], salt: [u8; SALT_LEN]) -> Option<Gmac> {
        Some(Gmac { salt, gcm: Gcm::new(key)? })
    }

    /// Where the key lies: nothing is encrypted, so that all texts are empty.
    pub(crate) fn place(&self) -> Place {
        self.gcm.place(0)
    }

    /// Writes the check value of a packet that is complete but for that. False if it is too short.
    pub(crate) fn seal(&self, head: Head, packet: &mut [u8]) -> bool {
        let check =
            authenticated(head, packet, |iv, data| self.gcm.seal(nonce(self.salt, iv), data, &mut []));
        match (check, packet.last_chunk_mut::<CHECK_LEN>()) {
            (Some(check), Some(place)) => *place = check,
            _ => return false,
        }
        true
    }

    /// Whether nothing of the packet was changed.
    pub(crate) fn open(&self, head: Head, packet: &mut [u8]) -> bool {
        let Some(&check) = packet.last_chunk::<CHECK_LEN>() else { return false };
        let is_right = |iv, data: &[u8]| self.gcm.open(nonce(self.salt, iv), data, &mut [], check);
        authenticated(head, packet, is_right) == Some(true)
    }
}

/// Calls `by` with the initialisation vector and what is authenticated (RFC 4543, section 3.3): all of the packet but its check value. An extended sequence number
/// is there as a whole: what is behind it moves into the room of the check value meanwhile. None if the packet is too short.
fn authenticated<T>(head: Head, packet: &mut [u8], by: impl FnOnce([u8; IV_LEN], &[u8]) -> T) -> Option<T> {
    let end = packet.len().checked_sub(CHECK_LEN)?;
    let iv = *packet.get(HEADER_LEN..end)?.first_chunk::<IV_LEN>()?;
    if !head.extended {
        return Some(by(iv, &packet[..end]));
    }
    let (header, check) = (*packet.first_chunk::<HEADER_LEN>()?, *packet.last_chunk::<CHECK_LEN>()?);
    let (front, _) = head.additional_data();
    packet.copy_within(HEADER_LEN..end, HEADER_LEN + HIGH_LEN);
    packet[..HEADER_LEN + HIGH_LEN].copy_from_slice(&front);
    let result = by(iv, &packet[..end + HIGH_LEN]);
    packet.copy_within(HEADER_LEN + HIGH_LEN..end + HIGH_LEN, HEADER_LEN);
    packet[..HEADER_LEN].copy_from_slice(&header);
    packet[end..].copy_from_slice(&check);
    Some(result)
}
