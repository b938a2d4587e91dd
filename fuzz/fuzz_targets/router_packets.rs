//! Any bytes as a frame through every element of `conf/ip-router.click`: never a panic.
//!
//! The corpus is replayed by `crates/elements/tests/packets.rs`.

#![no_main]

use device::memory::{Config, Interface, Interfaces};
use libfuzzer_sys::fuzz_target;
use router::{Log, Options, Resources};
use std::sync::{Arc, OnceLock};

const CONFIG: &str = include_str!("../../conf/ip-router.click");

/// The router runs on a thread of its own; a panic there ends the process.
fn interface() -> &'static Arc<Interface> {
    static INTERFACE: OnceLock<Arc<Interface>> = OnceLock::new();
    INTERFACE.get_or_init(|| {
        let interfaces: Vec<_> =
            ["eth0", "eth1", "eth2", "eth3"].map(|name| Interface::new(name, Config::rings(1, 1024))).into();
        let registry = Interfaces::new();
        for interface in &interfaces {
            registry.add(interface.clone()).expect("names differ");
        }
        std::thread::spawn(move || {
            let known = elements::classes();
            let graph = lang::parse(CONFIG, "ip-router", &[]).graph;
            let Ok(layout) = router::layout(graph, &known, 1) else { std::process::abort() };
            let mut resources = Resources::default();
            resources.insert(registry);
            let options = Options { resources, log: Log::Memory(Default::default()), ..Options::default() };
            let Ok((mut router, _)) = router::build(layout, CONFIG.to_owned(), &known, options) else {
                std::process::abort()
            };
            let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| router.run()));
            if ran.is_err() {
                std::process::abort();
            }
        });
        interfaces[0].clone()
    })
}

fuzz_target!(|data: &[u8]| {
    // A full ring means that the router is behind: the frame is simply not sent.
    let _ = interface().inject(0, data);
});
