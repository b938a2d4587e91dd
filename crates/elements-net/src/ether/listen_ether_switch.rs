//! A learning Ethernet switch with a monitor output.
//!
//! ```click
//! ListenEtherSwitch([TIMEOUT])
//! ```
//!
//! Works as EtherSwitch does, with one more output, the last, by which every frame leaves too: whether it is flooded,
//! forwarded to one port, or stays in its own LAN.
//!
//! Ports: any number of inputs, one output more. Processing: push. Workers: shared.
//!
//! # Arguments
//! - `TIMEOUT` (seconds, default 300): as for EtherSwitch.
//!
//! # Handlers
//! - `table` (read), `timeout` (read, write): as for EtherSwitch.
//!
//! # Example
//! ```click
//! s :: ListenEtherSwitch;
//! FromDevice(eth0) -> [0]s[0] -> Queue -> ToDevice(eth0);
//! FromDevice(eth1) -> [1]s[1] -> Queue -> ToDevice(eth1);
//! s[2] -> ToDump(all.pcap);
//! ```
//!
//! # See also
//! EtherSwitch

use super::ether_switch::build;
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("ListenEtherSwitch", create)
    .ports("-/=+")
    .processing("h/h")
    .flow("#/[^#]")
    .residency(Residency::Shared)
    .copies()
    .keeps("stations", "", 262_144, 32)
    .doc(router::manual!("listen_ether_switch.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    build(config, true)
}

#[cfg(test)]
mod tests {
    use crate::testing::send_singly;

    #[test]
    fn hears_everything() {
        let frame = |dst: u8, src: u8, port: u8| [&[dst; 6][..], &[src; 6], &[8, 0, port]].concat();
        let flow = send_singly(
            "Inject -> c :: Classifier(14/00, -); c[0] -> [0]s :: ListenEtherSwitch; c[1] -> [1]s;
             s[0] -> Collect(0); s[1] -> Collect(1); s[2] -> Collect(2);",
            [frame(4, 2, 0), frame(2, 4, 1), frame(2, 6, 0)],
        );
        assert_eq!(flow.data(0), [frame(2, 4, 1)]);
        assert_eq!(flow.data(1), [frame(4, 2, 0)]);
        assert_eq!(flow.data(2), [frame(4, 2, 0), frame(2, 4, 1), frame(2, 6, 0)]);
    }
}
