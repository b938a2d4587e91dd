//! Accepted for compatibility; flows are not moved between cores.
//!
//! ```click
//! DeviceBalancer(METHOD, DEV [, KEYWORDS])
//! ```
//!
//! FastClick's element monitors the load of cores, and changes which receive queue gets which flows. Here it does
//! nothing but print a message to that effect: all packets of a flow go to one worker, and the kernel determines how
//! the interface distributes flows over its queues (`ethtool -X` changes that).
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `METHOD` (word): `rss`, `rsspp`, `pianorss`, `metron` or `traditional`.
//! - `DEV` (element): the receiving element: FromDevice, FromDPDKDevice and the like.
//! - `TARGET` (word, default load): `load` or `balance`; or a number, as in the version of FastClick used in the
//!   RSS++ paper.
//! - `CYCLES` (word, default cycles): `cycles`, `cyclesqueue`, `cpu`, `queue` or `realcpu`.
//! - `RSSCOUNTER` (element): with METHOD rsspp, an AggregateCounterVector; required then.
//! - `MANAGER` (element): a flow manager.
//! - `ACTIVE` (boolean, default true), `AUTOSCALE` (boolean, default false): the values that the handlers return.
//! - `CORE_OFFSET`, `TIMER`, `TIMER_MAX`, `CPUS`, `STARTCPU`, `UNDERLOAD`, `OVERLOAD`, `VERBOSE`, `RETA_SIZE`,
//!   `MARK`, `GROUP`, `TARGET_LOAD`, `IMBALANCE_ALPHA`, `IMBALANCE_THRESHOLD`, `DANCER`, `NUMA`: accepted. So are
//!   that version's `LOAD`, `MIN_MOVEMENT` and `CONFIG`.
//!
//! # Handlers
//! - `active`, `autoscale` (read, write): the arguments.
//!
//! # Example
//! ```click
//! f :: FromDPDKDevice(eth0, RSS_AGGREGATE true) -> a :: AggregateCounterVector(MASK 511) -> Discard;
//! DeviceBalancer(METHOD rsspp, DEV f, RSSCOUNTER a)
//! ```
//!
//! # See also
//! FromDPDKDevice, FromDevice

use router::{Class, Config, ConfigError, Element, ElementName, Flags, Handlers, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("DeviceBalancer", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("device_balancer.rs"));

const METHODS: [&str; 5] = ["rss", "rsspp", "pianorss", "metron", "traditional"];
const CYCLES: [&str; 5] = ["cycles", "cyclesqueue", "cpu", "queue", "realcpu"];
/// Arguments that mean nothing here.
const OTHERS: [&str; 19] = [
    "CORE_OFFSET",
    "TIMER",
    "TIMER_MAX",
    "CPUS",
    "STARTCPU",
    "UNDERLOAD",
    "OVERLOAD",
    "VERBOSE",
    "RETA_SIZE",
    "MARK",
    "GROUP",
    "TARGET_LOAD",
    "IMBALANCE_ALPHA",
    "IMBALANCE_THRESHOLD",
    "DANCER",
    "NUMA",
    "LOAD",
    "MIN_MOVEMENT",
    "CONFIG",
];

struct DeviceBalancer {
    active: bool,
    autoscale: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut method, mut receiver) = (String::new(), ElementName::default());
    let (mut target, mut cycles) = ("load".to_owned(), "cycles".to_owned());
    let (mut counter, mut manager) = (None::<ElementName>, None::<ElementName>);
    let (mut active, mut autoscale) = (true, false);
    let mut others = [const { String::new() }; OTHERS.len()];
    let args = config
        .args()
        .required("METHOD", &mut method)
        .required("DEV", &mut receiver)
        .keyword("TARGET", &mut target)
        .keyword("CYCLES", &mut cycles)
        .keyword("RSSCOUNTER", &mut counter)
        .keyword("MANAGER", &mut manager)
        .keyword("ACTIVE", &mut active)
        .keyword("AUTOSCALE", &mut autoscale);
    OTHERS
        .into_iter()
        .zip(&mut others)
        .fold(args, |args, (name, value)| args.keyword(name, value))
        .finish()?;
    if !CYCLES.contains(&cycles.as_str()) {
        return Err("Unknown cycle method !".into());
    }
    let class = config.class_of(receiver.index);
    if !(class == "PollDevice"
        || class.starts_with("From") && class.contains("Device")
        || class.contains("XDP"))
    {
        return Err("Not an Ethernet Device".into());
    }
    if !METHODS.contains(&method.as_str()) {
        return Err(format!("Unknown method {method}").into());
    }
    match counter {
        None if method == "rsspp" => return Err("You must set a RSSCOUNTER element".into()),
        Some(counter) if config.class_of(counter.index) != "AggregateCounterVector" => {
            return Err("COUNTER must be of the type AggregateCounterVector or XDPLoader".into());
        }
        _ => {}
    }
    if target != "load" && target != "balance" && target.parse::<f64>().is_err() {
        return Err(format!("Unknown target {target}").into());
    }
    config.warn("flows stay with their workers; 'ethtool -X' says how the interface spreads them");
    Ok(Box::new(DeviceBalancer { active, autoscale }))
}

impl Element for DeviceBalancer {
    fn handlers(&self, h: &mut Handlers) {
        type D = DeviceBalancer;
        h.read("active", |e: &mut D, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut D, cx, text| {
            e.active = router::value(cx, text)?;
            Ok(())
        });
        h.read("autoscale", |e: &mut D, _| e.autoscale);
        h.write("autoscale", |e: &mut D, cx, text| {
            e.autoscale = router::value(cx, text)?;
            Ok(())
        });
    }
}
