//! Takes packets out of an IPsec payload that other elements have decrypted (old).
//!
//! ```click
//! IPsecESPUnencap
//! ```
//!
//! For configurations that use Click's IPsec elements; new ones should use ESPDecap, which does all steps.
//!
//! Removes the ESP header, the initialisation vector, and the padding, which must count up from 1. CheckIPHeader should follow.
//!
//! If RadixIPsecLookup has found an association for a packet, the packet is dropped as a replay if its sequence number was received before, or is
//! older than the window (OOSIZE) remembers. IPsecAuthHMACSHA1 must have checked the packet first: otherwise any sender can use sequence numbers up.
//! Numbers never start again: if the other end is restarted, remove the association's route on this side, and add it again. (Click starts again
//! whenever the first number arrives, and then accepts all packets that an attacker has recorded.) Packets without an association are not checked.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; they share the associations' windows.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! Idle -> r :: RadixIPsecLookup(10.0.2.0/24 192.0.2.2 1 234 \<0183A947 1ABE01FF FA04103B B1020304> \<112233EE 55667788 88776655 44332211> 300 64);
//! r[0] -> StripIPHeader -> IPsecAES(0) -> IPsecAuthHMACSHA1(1) -> IPsecESPUnencap -> CheckIPHeader -> Discard;
//! r[1] -> IPsecESPEncap -> IPsecAuthHMACSHA1(0) -> IPsecAES(1) -> IPsecEncap(esp) -> Discard;
//! ```
//!
//! # See also
//! RadixIPsecLookup, IPsecESPEncap, IPsecAuthHMACSHA1, IPsecAES, IPsecDES, ESPDecap

use super::table::Associations;
use elements_shared::ecn;
use elements_shared::esp_front::FRONT;
use elements_shared::replay_window::Refused;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::esp;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("IPsecESPUnencap", create).doc(router::manual!("ipsec_esp_unencap.rs"));

struct IpsecEspUnencap {
    /// There from the start on.
    associations: Associations,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(IpsecEspUnencap { associations: Associations::default() })))
}

impl IpsecEspUnencap {
    fn unencapsulate(&self, cx: &Cx<'_>, packet: &mut Packet) -> Result<(), &'static str> {
        const TOO_SHORT: &str = "too short";
        let (front, text) = packet.data().split_first_chunk::<FRONT>().ok_or(TOO_SHORT)?;
        let (text, &[padding, _]) = text.split_last_chunk::<{ esp::TRAILER_LEN }>().ok_or(TOO_SHORT)?;
        let number = esp::Header::new_checked(&front[..]).map_err(|_| TOO_SHORT)?.sequence();
        if let Some(association) = self.associations.named(packet, cx.turn())? {
            association.replay.take(number).map_err(|why| match why {
                Refused::Again => "has come before",
                Refused::Old => "too old",
            })?;
        }
        let len = esp::payload_len(text, padding).ok_or("wrong padding")?;
        let behind = text.len() - len + esp::TRAILER_LEN;
        if !packet.pull(FRONT) || !packet.take(behind) {
            return Err(TOO_SHORT);
        }
        let outer = ecn::outer_mark(packet);
        packet.clear_network();
        if ecn::leave_tunnel(packet, outer) { Ok(()) } else { Err(ecn::CONGESTION) }
    }
}

impl Simple for IpsecEspUnencap {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.unencapsulate(cx, packet).map_or_else(Verdict::Drop, |()| Verdict::Pass)
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.associations = Associations::of(cx);
        Ok(())
    }
}
