//! Sends a gratuitous ARP reply at regular intervals.
//!
//! ```click
//! ARPFaker(DSTIP, DSTETH, SRCIP, SRCETH)
//! ```
//!
//! One second after the start, and every ten seconds from then on, sends the host with the addresses DSTIP and DSTETH
//! an ARP reply saying that SRCIP has the Ethernet address SRCETH. No query is needed.
//!
//! Ports: no input, 1 output. Processing: push. Workers: one.
//!
//! # Arguments
//! - `DSTIP` (IP address): the receiver's IP address.
//! - `DSTETH` (Ethernet address): the receiver's Ethernet address.
//! - `SRCIP` (IP address): the IP address to announce.
//! - `SRCETH` (Ethernet address): its Ethernet address.
//!
//! # Example
//! ```click
//! ARPFaker(10.0.0.1, 1:1:1:1:1:1, 10.0.0.2, 2:2:2:2:2:2) -> Queue -> ToDevice(eth0);
//! ```
//!
//! # See also
//! ARPResponder, ARPQuerier

use elements_shared::ether_header::mark_frame;
use packet::DEFAULT_HEADROOM;
use router::{Activity, Class, Config, ConfigError, Cx, Element, Residency};
use std::net::Ipv4Addr;
use std::time::Duration;
use wire::ethernet::{HEADER_LEN, ether_type, header};
use wire::{MacAddr, arp};

/// The class.
pub(crate) const CLASS: Class = Class::new("ARPFaker", create)
    .ports("0/1")
    .processing("/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets")
    .doc(router::manual!("arp_faker.rs"));

pub(super) const FRAME_LEN: usize = HEADER_LEN + arp::PACKET_LEN;

struct ArpFaker {
    frame: [u8; FRAME_LEN],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut ip1, mut eth1) = (Ipv4Addr::UNSPECIFIED, MacAddr::ZERO);
    let (mut ip2, mut eth2) = (Ipv4Addr::UNSPECIFIED, MacAddr::ZERO);
    config
        .args()
        .required("DSTIP", &mut ip1)
        .required("DSTETH", &mut eth1)
        .required("SRCIP", &mut ip2)
        .required("SRCETH", &mut eth2)
        .finish()?;
    Ok(Box::new(ArpFaker { frame: reply((ip1, eth1), (ip2, eth2)) }))
}

/// The frame that tells one host of another.
pub(super) fn reply(to: (Ipv4Addr, MacAddr), host: (Ipv4Addr, MacAddr)) -> [u8; FRAME_LEN] {
    let mut frame = [0; FRAME_LEN];
    let (ethernet, body) = frame.split_at_mut(HEADER_LEN);
    ethernet.copy_from_slice(&header(to.1, host.1, ether_type::ARP));
    // Hardware and protocol types and the lengths of their addresses.
    body[..6].copy_from_slice(&[0, 1, 8, 0, 6, 4]);
    if let Ok(mut reply) = arp::Packet::new_checked_mut(body) {
        reply.set_operation(arp::REPLY);
        reply.set_sender(host.1, host.0);
        reply.set_target(to.1, to.0);
    }
    frame
}

impl Element for ArpFaker {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.timers().after(0, Duration::from_secs(1));
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        match cx.pool().alloc(DEFAULT_HEADROOM, FRAME_LEN) {
            Some(mut packet) => {
                packet.data_mut().copy_from_slice(&self.frame);
                mark_frame(&mut packet);
                cx.emit_packet(0, packet);
            }
            None => cx.count_drops("no buffer", 1),
        }
        cx.timers().after(0, Duration::from_secs(10));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// At 1, 11 and 21 seconds.
    #[test]
    fn a_reply_leaves_every_ten_seconds() {
        let reply = "0/010203040506 6/0708090a0b0c 12/0806 14/0001080006040002 22/0708090a0b0c 28/0a000002
                     32/010203040506 38/0a000001";
        let config = format!(
            "ARPFaker(10.0.0.1, 1:2:3:4:5:6, 10.0.0.2, 7:8:9:a:b:c) -> c :: Classifier({reply}, -);
             c[0] -> d :: Counter -> Discard; c[1] -> Discard; DriverManager(wait 25s, stop);"
        );
        assert_eq!(run_and_read(&config, &["d.count", "d.byte_count"]), ["3", "126"]);
    }
}
