//! Puts packets into an IPsec payload that is encrypted by other elements (old).
//!
//! ```click
//! IPsecESPEncap([SPI])
//! ```
//!
//! For configurations that use Click's IPsec elements; new ones should use ESPEncap, which does all steps.
//!
//! Prepends an ESP header (RFC 4303) and an initialisation vector of 8 octets to a packet, and appends padding to a multiple of 8 octets, the
//! padding's length, and the protocol in the packet's marked IP header (0 if there is none). IPsecAuthHMACSHA1 and IPsecAES or IPsecDES should
//! follow, then IPsecEncap.
//!
//! The SPI and the sequence number come from the association that RadixIPsecLookup has found for the packet. After sequence number 4,294,967,295
//! packets are dropped, and the association needs new keys; Click starts again then. Packets without an association get the argument SPI, and
//! sequence numbers from 1 on; without that argument they are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: shared; all draw from the same sequence numbers.
//!
//! # Arguments
//! - `SPI` (integer): the SPI of packets without an association. Click's documentation has it, although Click ignores all arguments. Any other
//!   argument is ignored with a warning.
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
//! RadixIPsecLookup, IPsecESPUnencap, IPsecAuthHMACSHA1, IPsecAES, IPsecDES, ESPEncap

use super::table::{Associations, NO_ASSOCIATION};
use elements_shared::ecn;
use elements_shared::esp_front::{FRONT, IV_LEN, front};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, FromArg, PerPacket, Residency, Simple, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wire::{esp, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPsecESPEncap", create)
    .residency(Residency::Shared)
    .doc(router::manual!("ipsec_esp_encap.rs"));

/// The payload ends at a multiple of so many octets: those of a block of DES.
const BLOCK: usize = 8;

struct IpsecEspEncap {
    /// The parameter index of packets without an association.
    spi: Option<u32>,
    /// The number of the next one of those.
    next: Arc<AtomicU64>,
    /// There from the start on.
    associations: Associations,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut spi, mut others) = (None::<String>, Vec::new());
    config.args().positional("SPI", &mut spi).rest(&mut others).finish()?;
    let number = spi.as_deref().map(|spi| u32::from_arg(spi, config.scope()));
    if matches!(number, Some(Err(_))) || !others.is_empty() {
        config.warn("arguments other than SPI are passed over");
    }
    let next = config.shared(|| Ok(AtomicU64::new(1)))?;
    let spi = number.and_then(Result::ok);
    Ok(Box::new(PerPacket(IpsecEspEncap { spi, next, associations: Associations::default() })))
}

/// The protocol of a packet's marked IP header, or 0.
fn protocol(packet: &Packet) -> u8 {
    packet.network().and_then(|bytes| ipv4::Header::new_checked(bytes).ok()).map_or(0, |ip| ip.protocol())
}

impl IpsecEspEncap {
    /// Parameter index, number and initialisation vector of a packet.
    fn identity(&self, cx: &mut Cx<'_>, packet: &Packet) -> Result<(u32, u32, [u8; IV_LEN]), &'static str> {
        const USED_UP: &str = "sequence numbers are used up";
        if let Some(association) = self.associations.named(packet, cx.turn())? {
            let number = association.number().ok_or(USED_UP)?;
            return Ok((association.terms.spi, number, association.vector(number, cx.now_ns())));
        }
        let spi = self.spi.ok_or(NO_ASSOCIATION)?;
        // Nothing else depends on it, so any order of memory will do.
        let number = u32::try_from(self.next.fetch_add(1, Ordering::Relaxed)).map_err(|_| USED_UP)?;
        Ok((spi, number, cx.unguessable().u64().to_be_bytes()))
    }

    fn encapsulate(&self, cx: &mut Cx<'_>, packet: &mut Packet) -> Result<(), &'static str> {
        const NO_ROOM: &str = "no room";
        let (len, protocol) = (packet.len(), protocol(packet));
        if !packet.put(esp::padding(len, BLOCK) + esp::TRAILER_LEN) {
            return Err(NO_ROOM);
        }
        let mark = ecn::mark(packet.data()).unwrap_or(0);
        packet.set_enclosed_ecn(mark);
        esp::fill_trailer(&mut packet.data_mut()[len..], protocol);
        let (spi, number, iv) = self.identity(cx, packet)?;
        *packet.push_array::<FRONT>().ok_or(NO_ROOM)? = front(spi, number, iv);
        packet.clear_network();
        Ok(())
    }
}

impl Simple for IpsecEspEncap {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.encapsulate(cx, packet).map_or_else(Verdict::Drop, |()| Verdict::Pass)
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.associations = Associations::of(cx);
        Ok(())
    }
}
