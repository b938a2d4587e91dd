//! Sends packets that leave the cluster at this node to their external ports.
//!
//! ```click
//! VLBDecap
//! ```
//!
//! Removes the label added by VLBEncap. The packet leaves by the output for its external port; it is dropped if there
//! is none.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated. Not in Click.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! node :: VLBNode(NODE 0, NODES 1, KEY secret);
//! InfiniteSource(LIMIT 0) -> VLBEncap(0, 1) -> node -> ports :: VLBDecap;
//! ports[0] -> Discard;
//! ports[1] -> Discard;
//! ```
//!
//! # See also
//! VLBEncap, VLBNode

use cluster::label::Label;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ethernet::HEADER_LEN;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("VLBDecap", create).ports("1/1-").processing("h/h").doc(router::manual!("vlb_decap.rs"));

struct VlbDecap {
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let e = VlbDecap { outputs: config.outputs() };
    config.args().finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for VlbDecap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(label) = Label::decode(packet.data()) else { return Verdict::Drop("no label") };
        if !packet.pull(HEADER_LEN) {
            return Verdict::Drop("no label");
        }
        match usize::from(label.port) {
            0 => Verdict::Pass,
            port if port < self.outputs => Verdict::Output(port),
            _ => Verdict::Drop("no such port"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Packets find their ports, without the label; what has none, or a port that is not there, is dropped.
    #[test]
    fn packets_leave_at_the_port_that_the_label_names() {
        let config = "InfiniteSource(DATA \\<45000014>, LIMIT 3, STOP true) -> r :: RoundRobinSwitch;
                      r[0] -> VLBEncap(0, 1) -> v :: VLBDecap; r[1] -> VLBEncap(0, 2) -> v; r[2] -> v;
                      v[0] -> z :: Discard; v[1] -> o :: Discard;";
        let read = run_and_read(config, &["z.count", "o.count", "o.byte_count", "v.drop_reasons"]);
        assert_eq!(read[..3], ["0", "1", "4"]);
        assert!(read[3].contains("no such port") && read[3].contains("no label"), "{}", read[3]);
    }
}
