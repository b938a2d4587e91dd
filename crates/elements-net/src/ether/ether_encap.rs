//! Prepends a fixed Ethernet header to packets.
//!
//! ```click
//! EtherEncap(ETHERTYPE, SRC, DST)
//! ```
//!
//! Every packet gets a 14-byte header with the type ETHERTYPE, the source address SRC and the destination address
//! DST. The link-layer header position is set.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ETHERTYPE` (integer): the EtherType, for instance 0x0800 for IPv4.
//! - `SRC` (Ethernet address): source.
//! - `DST` (Ethernet address): destination.
//!
//! # Handlers
//! - `src`, `dst`, `ethertype` (read, write): the arguments. `etht` is another name for `ethertype`.
//!
//! # Example
//! ```click
//! EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2)
//! ```
//!
//! # See also
//! ARPQuerier, Strip

use elements_shared::ether_header::{NO_ROOM, encapsulate};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::MacAddr;
use wire::ethernet::{HEADER_LEN, Header, header};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("EtherEncap", create).pure().live().doc(router::manual!("ether_encap.rs"));

struct EtherEncap {
    header: [u8; HEADER_LEN],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut ether_type, mut src, mut dst) = (0, MacAddr::ZERO, MacAddr::ZERO);
    config
        .args()
        .required("ETHERTYPE", &mut ether_type)
        .required("SRC", &mut src)
        .required("DST", &mut dst)
        .finish()?;
    Ok(Box::new(PerPacket(EtherEncap { header: header(dst, src, ether_type) })))
}

impl Simple for EtherEncap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if encapsulate(packet, &self.header) { Verdict::Pass } else { Verdict::Drop(NO_ROOM) }
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = EtherEncap;
        h.read("src", |e: &mut E, _| Header::new(&e.header).src());
        h.write("src", |e: &mut E, cx, text| {
            Header::new(&mut e.header).set_src(router::keyword_value(cx, "SRC", text)?);
            Ok(())
        });
        h.read("dst", |e: &mut E, _| Header::new(&e.header).dst());
        h.write("dst", |e: &mut E, cx, text| {
            Header::new(&mut e.header).set_dst(router::keyword_value(cx, "DST", text)?);
            Ok(())
        });
        for name in ["ethertype", "etht"] {
            h.read(name, |e: &mut E, _| Header::new(&e.header).ether_type());
            h.write(name, |e: &mut E, cx, text| {
                Header::new(&mut e.header).set_ether_type(router::keyword_value(cx, "ETHERTYPE", text)?);
                Ok(())
            })
            .of_argument("ETHERTYPE");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// The header has its fields where they belong, and handlers show them as Click does.
    #[test]
    fn header_and_handlers() {
        let config = "InfiniteSource(LIMIT 2, LENGTH 5, STOP true) -> e :: EtherEncap(0x0806, 1:2:3:4:5:a, 7-8-9-a-b-c)
                      -> c :: Classifier(0/0708090a0b0c0102030405 11/0a0806, -); c[1] -> Discard; c[0] -> d :: Discard;";
        assert_eq!(
            run_and_read(config, &["d.count", "d.byte_count", "e.src", "e.dst", "e.ethertype"]),
            ["2", "38", "01-02-03-04-05-0A", "07-08-09-0A-0B-0C", "2054"]
        );
    }
}
