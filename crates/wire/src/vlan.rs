//! VLAN tags (IEEE 802.1Q).

use crate::field::{get_u16, set_u16, view};
use std::ops::{Deref, DerefMut};

/// Octets that a tag adds: tag control information and the type of what follows.
pub const TAG_LEN: usize = 4;
/// Bits of the VLAN identifier in the tag control information.
pub const ID_MASK: u16 = 0x0fff;

view! {
    /// The four octets after the type field that announced the tag ([`crate::ethernet::ether_type::VLAN`]).
    Tag, TAG_LEN
}

impl<B: Deref<Target = [u8; TAG_LEN]>> Tag<B> {
    /// Tag control information: priority, drop eligibility and identifier.
    #[inline]
    pub fn tci(&self) -> u16 {
        get_u16::<0, _>(&self.0)
    }

    /// VLAN identifier, 0 to 4095; 0 tags a priority only.
    #[inline]
    pub fn id(&self) -> u16 {
        self.tci() & ID_MASK
    }

    /// Priority code point, 0 to 7.
    #[inline]
    pub fn priority(&self) -> u8 {
        (self.tci() >> 13) as u8
    }

    /// Whether the frame may be dropped first under congestion.
    #[inline]
    pub fn drop_eligible(&self) -> bool {
        self.tci() & 0x1000 != 0
    }

    /// Type of the payload.
    #[inline]
    pub fn ether_type(&self) -> u16 {
        get_u16::<2, _>(&self.0)
    }
}

impl<B: DerefMut<Target = [u8; TAG_LEN]>> Tag<B> {
    /// Sets the tag control information.
    #[inline]
    pub fn set_tci(&mut self, tci: u16) {
        set_u16::<0, _>(&mut self.0, tci);
    }

    /// Sets the type of the payload.
    #[inline]
    pub fn set_ether_type(&mut self, ether_type: u16) {
        set_u16::<2, _>(&mut self.0, ether_type);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tags_fields_are_read_and_written() {
        let tag = Tag::new(&[0xb1, 0x23, 0x08, 0x00]);
        assert_eq!(
            (tag.priority(), tag.drop_eligible(), tag.id(), tag.ether_type()),
            (5, true, 0x123, 0x0800)
        );
        let mut bytes = [0; TAG_LEN];
        let mut tag = Tag::new(&mut bytes);
        tag.set_tci(0xb123);
        tag.set_ether_type(0x0800);
        assert_eq!(bytes, [0xb1, 0x23, 0x08, 0x00]);
    }
}
