//! Finds the flows that packets of all kinds belong to.
//!
//! ```click
//! CTXManager([KEYWORDS])
//! ```
//!
//! As FlowIPManager does, for packets with a marked IPv4 header, and for Ethernet frames with an IPv4 packet in them.
//! Other packets pass without a flow, and so do those of new flows for which there is no room. CTXDispatcher sorts
//! packets with or without a flow.
//!
//! FlowClassifier and FlowManager are older names for it. They are FastClick's elements, which also look at what the
//! CTXDispatchers downstream ask for. CTXDPDKManager, CTXDPDKBuilderManager, CTXDPDKCacheManager, FlowDPDKManager,
//! FlowDPDKBuilderManager, FlowDPDKCacheManager and FlowDPDKClassifier are those that leave some of that to a network
//! card; they have the further argument DEVICE, and do the same.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `CAPACITY` (integer, default 65536), `TIMEOUT` (integer, default 60): as of FlowIPManager.
//! - `RESERVE`, `AGGCACHE`, `CACHESIZE`, `CACHERINGSIZE`, `BUILDER`, `EARLYDROP`, `CLEAN_TIMER`, `NOCUT`, `ORDERED`,
//!   `OPTIMIZE`, `VERBOSE`, `VERBOSE_FCB`, `AGGTRUST`, `CONTEXT`, `RELEASE`: FastClick's; accepted. Flows that are
//!   over are always released.
//! - `DEVICE` (element, first argument, of the names with DPDK only): accepted.
//!
//! # Handlers
//! - `count`, `capacity`, `total_capacity` (read): as of FlowIPManager.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> CTXManager(BUILDER 1, VERBOSE 1) -> d :: CTXDispatcher(12/0800, -);
//! d [0] -> FlowCounter -> Discard;
//! d [1] -> Discard;
//! ```
//!
//! # See also
//! FlowIPManager, CTXDispatcher, FlowCounter

use super::flow_ip_manager::{Manager, Settings};
use router::{Class, Config, ConfigError, Element, ElementName, PerPacket, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("CTXManager", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(include_str!("ctx_manager.rs"));
/// An older name.
pub(crate) const CLASSIFIER: Class = Class { name: "FlowClassifier", ..CLASS };
/// Another older name.
pub(crate) const MANAGER: Class = Class { name: "FlowManager", ..CLASS };

/// With a device.
pub(crate) const DPDK: Class = Class { name: "CTXDPDKManager", create: create_with_device, ..CLASS };
/// See [`DPDK`].
pub(crate) const DPDK_BUILDER: Class = Class { name: "CTXDPDKBuilderManager", ..DPDK };
/// See [`DPDK`].
pub(crate) const DPDK_CACHE: Class = Class { name: "CTXDPDKCacheManager", ..DPDK };
/// See [`DPDK`].
pub(crate) const FLOW_DPDK: Class = Class { name: "FlowDPDKManager", ..DPDK };
/// See [`DPDK`].
pub(crate) const FLOW_DPDK_BUILDER: Class = Class { name: "FlowDPDKBuilderManager", ..DPDK };
/// See [`DPDK`].
pub(crate) const FLOW_DPDK_CACHE: Class = Class { name: "FlowDPDKCacheManager", ..DPDK };
/// See [`DPDK`].
pub(crate) const FLOW_DPDK_CLASSIFIER: Class = Class { name: "FlowDPDKClassifier", ..DPDK };

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_from(config, None)
}

fn create_with_device(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_from(config, Some(ElementName::default()))
}

/// With a device among the arguments if there is a place for it.
fn create_from(
    config: &mut Config<'_>,
    mut device: Option<ElementName>,
) -> Result<Box<dyn Element>, ConfigError> {
    let mut settings = Settings { timeout: 60, ..Settings::default() };
    let mut accepted: [String; 15] = Default::default();
    let names = [
        "RESERVE",
        "AGGCACHE",
        "CACHESIZE",
        "CACHERINGSIZE",
        "BUILDER",
        "EARLYDROP",
        "CLEAN_TIMER",
        "NOCUT",
        "ORDERED",
        "OPTIMIZE",
        "VERBOSE",
        "VERBOSE_FCB",
        "AGGTRUST",
        "CONTEXT",
        "RELEASE",
    ];
    let mut args = config.args();
    if let Some(device) = &mut device {
        args = args.required("DEVICE", device);
    }
    args = args.keyword("CAPACITY", &mut settings.capacity).keyword("TIMEOUT", &mut settings.timeout);
    names.iter().zip(&mut accepted).fold(args, |args, (name, value)| args.keyword(name, value)).finish()?;
    Ok(Box::new(PerPacket(Manager::new(config, settings, true)?)))
}
