//! Sets the VLAN annotation.
//!
//! ```click
//! SetVLANAnno([VLAN_TCI, VLAN_PCP, VLAN_ID])
//! ```
//!
//! `SetVlanAnno` is another name for this class.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `VLAN_TCI` (integer): the tag control information: identifier and priority.
//! - `VLAN_PCP` (0 to 7, default 0): the priority code point, inserted into the tag control information.
//! - `VLAN_ID` (0 to 0xFFF): the identifier alone; ignored if VLAN_TCI is given.
//!
//! # Handlers
//! - `vlan_tci`, `vlan_id`, `vlan_pcp` (read, write): the arguments. Writing `vlan_id` or `vlan_pcp` leaves the other
//!   part of the tag control information as it is, and has no effect if VLAN_TCI is taken from the annotation.
//!
//! # Example
//! ```click
//! Idle -> SetVLANAnno(VLAN_ID 2, VLAN_PCP 1) -> VLANEncap(ANNO) -> Discard;
//! ```
//!
//! # See also
//! VLANEncap, EtherVLANEncap, StripEtherVLANHeader

use super::vlan::{Arguments, Tagging, Tci, annotate, config_handler, tag_handlers};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetVLANAnno", create).pure().live().doc(router::manual!("set_vlan_anno.rs"));
struct SetVlanAnno {
    tagging: Tagging,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut a = Arguments::default();
    config
        .args()
        .positional("VLAN_TCI", &mut a.tci)
        .positional("VLAN_PCP", &mut a.priority)
        .keyword("VLAN_ID", &mut a.id)
        .finish()?;
    if a.tci == Some(Tci::Annotation) {
        return Err("VLAN_TCI: invalid number: integer expected, not 'ANNO'".into());
    }
    Ok(Box::new(PerPacket(SetVlanAnno { tagging: Tagging::new(&a) })))
}

impl Simple for SetVlanAnno {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        annotate(packet, self.tagging.value());
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        config_handler(h, |e: &mut SetVlanAnno| &mut e.tagging);
        tag_handlers(h, |e: &mut SetVlanAnno| &mut e.tagging);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send_one;

    #[test]
    fn sets_the_tag_in_network_order() {
        for arguments in ["0x4123", "0x123, 2", "VLAN_ID 0x123, VLAN_PCP 2"] {
            let mut flow =
                send_one(&format!("Inject -> s :: SetVLANAnno({arguments}) -> Collect(0)"), vec![1]);
            assert_eq!(&flow.only(0).annotations()[19..23], &[0, 0x41, 0x23, 0]);
            assert_eq!(
                ["s.vlan_tci", "s.vlan_id", "s.vlan_pcp"].map(|h| flow.read(h)),
                ["16675", "291", "2"]
            );
        }
        assert_eq!(
            send_one("Inject -> SetVLANAnno -> Collect(0)", vec![1]).only(0).annotations()[20..22],
            [0; 2]
        );
        assert!(errors("Idle -> SetVLANAnno(ANNO) -> Discard").contains("VLAN_TCI: invalid number\n"));
    }
}
