//! What stands in front of what is encrypted: the ESP header, and an initialisation vector of 8 octets (RFC 4106, section 3.1, and RFC 2405,
//! section 2).

use wire::esp;

/// Octets of the initialisation vector.
pub const IV_LEN: usize = 8;
/// Octets in front of what is encrypted.
pub const FRONT: usize = esp::HEADER_LEN + IV_LEN;

/// The header and the initialisation vector.
pub fn front(spi: u32, number: u32, iv: [u8; IV_LEN]) -> [u8; FRONT] {
    let mut front = [0; FRONT];
    let (header, vector) = front.split_at_mut(esp::HEADER_LEN);
    vector.copy_from_slice(&iv);
    if let Ok(mut header) = esp::Header::new_checked_mut(header) {
        header.set_spi(spi);
        header.set_sequence(number);
    }
    front
}
