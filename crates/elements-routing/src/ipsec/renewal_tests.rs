//! Many associations are renewed while packets pass through all of them, as IKE renews them (RFC 7296, section 2.8).

use crate::testing::build;
use elements_testing::samples;
use router::{Call, Router};
use std::collections::VecDeque;
use std::net::Ipv4Addr;

/// Renewals after which the receiver's old association goes: its last packets are still on their way before.
const LATER: u32 = 64;

fn association(tunnel: u32, generation: u32) -> String {
    format!(
        "192.0.2.1 198.51.100.1 {:#x} aes-gcm key {generation:08x}{tunnel:08x}0011223344556677aabbccdd reqid {}",
        spi(tunnel, generation),
        tunnel + 1
    )
}

fn spi(tunnel: u32, generation: u32) -> u32 {
    generation << 16 | tunnel
}

/// Two gateways with a queue between them and tunnels to all addresses of a prefix, a power of 2, and packets to these in random order. The tunnels from this one on have their first
/// association; the renewed ones of the others go over to a new configuration.
fn gateways(tunnels: u32, from: u32) -> Router {
    let data: String = samples::udp(9).iter().map(|byte| format!("{byte:02x}")).collect();
    let policy = |tunnel: u32, side: &str| {
        let to = Ipv4Addr::from(0x0a00_0000 + tunnel);
        format!("POLICY {side} 0.0.0.0/0 {to} protect 192.0.2.1 198.51.100.1 reqid {}", tunnel + 1)
    };
    let arguments = |side: &str, from: u32| {
        let policies = (0..tunnels).map(|tunnel| policy(tunnel, side));
        let associations = (from..tunnels).map(|tunnel| format!("SA {}", association(tunnel, 1)));
        policies.chain(associations).collect::<Vec<_>>().join(",\n")
    };
    let config = format!(
        "s :: InfiniteSource(DATA \\<{data}>, BURST 1) -> SetRandIPAddress(10.0.0.0/{}) -> StoreIPAddress(16) -> SetIPChecksum
             -> CheckIPHeader -> sent :: Counter -> out :: IPsec({}); Idle -> [1]out; out[1] -> Discard;
         out[0] -> q :: Queue(1000) -> u :: Unqueue(BURST 1, ACTIVE false) -> [1]into :: IPsec({}); Idle -> into; into[0] -> Discard;
         into[1] -> came :: Counter -> Discard",
        u32::BITS - tunnels.ilog2(),
        arguments("out", from),
        arguments("in", from.saturating_sub(LATER)),
    );
    build(&config, 1, 8).expect("a good configuration")
}

fn write(router: &mut Router, handler: &str, text: String) {
    router.call(Call::write(handler, text)).expect("done");
}

fn number(router: &mut Router, handler: &str) -> u64 {
    router.call(Call::read(handler, "")).expect("a handler").parse().expect("a number")
}

#[test]
fn no_packet_is_lost_while_all_are_renewed() {
    renew(1 << 10);
}

#[test]
#[ignore = "takes half a minute: cargo test -p clique-elements-routing -- --ignored sixteen_thousand"]
fn nor_of_sixteen_thousand() {
    renew(1 << 14);
}

/// Each of them is renewed once, half before and half behind a hot swap: no packet is lost.
fn renew(tunnels: u32) {
    let mut router = gateways(tunnels, 0);
    // A round's packets stay on their way.
    router.run_rounds(1);
    write(&mut router, "u.active", "true".to_owned());
    let (mut old, mut former) = (VecDeque::new(), [0, 0]);
    for tunnel in 0..tunnels {
        if tunnel == tunnels / 2 {
            let mut new = gateways(tunnels, tunnel);
            new.take_over(&mut router).expect("taken over");
            former = ["sent.count", "came.count"].map(|count| number(&mut router, count));
            router = new;
            write(&mut router, "u.active", "true".to_owned());
        }
        // The receiver's first: the sender uses its own at once.
        for side in ["into", "out"] {
            write(&mut router, &format!("{side}.add_association"), association(tunnel, 2));
        }
        write(&mut router, "out.remove_association", format!("198.51.100.1 {:#x}", spi(tunnel, 1)));
        if tunnel % 16 == 15 {
            router.run_rounds(1);
        }
        old.push_back(tunnel);
        if old.len() > LATER as usize {
            let tunnel = old.pop_front().expect("one");
            write(&mut router, "into.remove_association", format!("198.51.100.1 {:#x}", spi(tunnel, 1)));
        }
    }
    write(&mut router, "s.active", "false".to_owned());
    router.run_rounds(1000);
    assert_eq!(number(&mut router, "q.length"), 0);
    let [sent, came] = ["sent.count", "came.count"].map(|count| number(&mut router, count));
    assert_eq!(former[0] + sent, former[1] + came, "sent and came; drops: {:?}", drops(&mut router));
    assert!(sent > u64::from(tunnels), "{sent}");
    assert_eq!(number(&mut router, "out.association_count"), u64::from(tunnels));
    let shown = router.call(Call::read("out.associations", "")).expect("a handler");
    assert_eq!(shown.matches(" 0x0002").count(), tunnels as usize, "those of the second generation");
    elements_testing::assert_balanced(&router);
}

fn drops(router: &mut Router) -> Vec<String> {
    let of = |element| router.call(Call::read(format!("{element}.drop_reasons"), "")).unwrap_or_default();
    ["out", "q", "into"].map(of).to_vec()
}
