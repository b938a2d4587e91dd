//! Assigns packets of all kinds to flows.
//!
//! ```click
//! CTXManager([KEYWORDS])
//! ```
//!
//! Works like FlowIPManager, for packets with a marked IPv4 header, and for Ethernet frames that contain an IPv4
//! packet. Other packets pass without a flow, and so do those of new flows for which there is no room. CTXDispatcher
//! classifies packets with or without a flow.
//!
//! FlowClassifier and FlowManager are older names for it. They are FastClick's elements, which also evaluate the
//! patterns of the CTXDispatchers downstream. CTXDPDKManager, CTXDPDKBuilderManager, CTXDPDKCacheManager,
//! FlowDPDKManager, FlowDPDKBuilderManager, FlowDPDKCacheManager and FlowDPDKClassifier are FastClick's variants that
//! leave some of this to a network card; they have an additional argument DEVICE, and do the same here.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `CAPACITY` (integer, default 65536), `TIMEOUT` (integer, default 60): as for FlowIPManager.
//! - `RESERVE`, `AGGCACHE`, `CACHESIZE`, `CACHERINGSIZE`, `BUILDER`, `EARLYDROP`, `CLEAN_TIMER`, `NOCUT`, `ORDERED`,
//!   `OPTIMIZE`, `VERBOSE`, `VERBOSE_FCB`, `AGGTRUST`, `CONTEXT`, `RELEASE`: FastClick's; accepted. Expired flows are
//!   always released.
//! - `DEVICE` (element, first argument, only with the DPDK names): accepted.
//!
//! # Handlers
//! - `count`, `parked`, `parked_expired`, `capacity`, `total_capacity` (read): as for FlowIPManager.
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
    .keeps("flows", "CAPACITY", 65_536, 96)
    .doc(router::manual!("ctx_manager.rs"));
/// With a device.
pub(crate) const DPDK: Class = Class { name: "CTXDPDKManager", create: create_with_device, ..CLASS };
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
