//! Configurations with this crate's elements that say what comes of them, in `tests/conformance/control/`; and that every
//! element class there is occurs in some such configuration.

#[path = "../../elements/tests/expected/mod.rs"]
mod expected;

use router::Classes;
use std::path::Path;

fn known() -> Classes {
    Classes::new(elements::classes().iter().chain(clique_control::CLASSES.iter().copied()))
}

#[test]
fn elements_behave_as_documented() {
    let (checked, wrong) = expected::check("tests/conformance/control", &known());
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked >= 3);
}

/// Classes that need more than a configuration: other programs, interfaces, the kernel. Beside each is the file that tests it.
#[rustfmt::skip]
const ELSEWHERE: &[(&str, &str)] = &[
    // Interfaces in memory, which the program around the router makes.
    ("FromMemory", "crates/elements-devices/src/capture/from_memory.rs"),
    ("ToMemory", "crates/elements-devices/src/capture/to_memory.rs"),
    // Interfaces of the kernel.
    ("FromDevice", "tests/netns/methods.sh"),
    ("PollDevice", "crates/elements-devices/src/netdevice/from_device.rs"),
    ("ToDevice", "crates/elements-devices/src/netdevice/to_device.rs"),
    ("FromHost", "tests/netns/host.sh"),
    ("ToHost", "tests/netns/host.sh"),
    ("KernelTap", "tests/netns/host.sh"),
    ("KernelTun", "tests/netns/host.sh"),
    // Routes of other programs.
    ("FPMServer", "tests/netns/lib.sh"),
    ("KernelNeighbours", "tests/netns/kernel-routes.sh"),
    ("KernelRoutes", "tests/netns/kernel-routes.sh"),
    // Members of a cluster, from another program.
    ("EtcdRoster", "crates/control/src/members/tests.rs"),
    // Connections to other programs, in real time.
    ("Socket", "crates/elements-devices/src/netdevice/socket.rs"),
    ("FromSocket", "crates/elements-devices/src/netdevice/socket.rs"),
    ("ToSocket", "crates/elements-devices/src/netdevice/socket.rs"),
    ("FromDPDKRing", "crates/elements-devices/src/netdevice/dpdk_ring.rs"),
    ("ToDPDKRing", "crates/elements-devices/src/netdevice/dpdk_ring.rs"),
    ("RawSocket", "crates/elements-devices/src/netdevice/raw_socket.rs"),
    ("FromRawSocket", "crates/elements-devices/src/netdevice/raw_socket.rs"),
    ("ToRawSocket", "crates/elements-devices/src/netdevice/raw_socket.rs"),
    ("McastSocket", "crates/elements-devices/src/netdevice/mcast_socket.rs"),
    ("ChatterSocket", "crates/control/src/socket/tests.rs"),
    ("HTTPServer", "crates/control/src/socket/tests.rs"),
    ("MetricsSocket", "crates/control/src/socket/tests.rs"),
    // Connections, whose filters are conf/firewall.click's.
    ("ConnTrack", "crates/elements-translation/src/track/conn_track.rs"),
    ("ConnTrackConfirm", "crates/elements-translation/src/track/conn_track.rs"),
    // Tunnels, also those of a kernel that has IPsec.
    ("IPsec", "crates/elements-routing/src/ipsec/ipsec.rs"),
    ("KernelIPsec", "crates/control/src/ipsec/kernel_ipsec.rs"),
];

#[test]
fn every_class_occurs() {
    let mut found = expected::classes_of("tests/conformance");
    found.append(&mut expected::classes_of("tests/conformance/control"));
    found.append(&mut expected::classes_of("conf"));
    let known = known();
    let missing = known.names().filter(|name| !found.contains(*name));
    let missing: Vec<_> = missing.filter(|name| ELSEWHERE.iter().all(|(class, _)| class != name)).collect();
    assert!(missing.is_empty(), "no configuration says what comes of {missing:?}");
    for (class, test) in ELSEWHERE {
        assert!(known.get(class).is_some() && !found.contains(*class), "{class} is no exception");
        let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(test);
        let text = std::fs::read_to_string(&file).expect("readable");
        assert!(text.contains(class), "{test} does not test {class}");
    }
}
