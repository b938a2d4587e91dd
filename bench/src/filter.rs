//! Nanoseconds a packet in IPFilter, with many rules.
//!
//! Rules are networks and ports at random, packets match a rule at random. Each figure is a difference: a configuration runs
//! for some packets, with the filter and without it.

use crate::assembly;
use crate::machine::Machine;
use crate::rcu::processor_time_of_all;
use crate::rewriter::{Arguments, Figure, Report};
use router::{Activity, Class, Classes, Config, ConfigError, Cx, Element, Options};
use std::net::Ipv4Addr;
use wire::ip_proto;
use wire::ipv4::{HEADER_LEN, Header};

/// What one rule allows.
#[derive(Clone, Copy)]
struct Allowed {
    src: Ipv4Addr,
    len: u32,
    port: u16,
}

/// Numbers that look random, the same each time.
fn scattered(number: u32) -> u32 {
    let mixed = (number ^ number >> 16).wrapping_mul(0x85eb_ca6b);
    let mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    mixed ^ mixed >> 16
}

impl Allowed {
    fn by_rule(rule: u32) -> Allowed {
        let (src, port) = (scattered(2 * rule), scattered(2 * rule + 1) as u16);
        Allowed { src: Ipv4Addr::from_bits(src), len: 8 + rule % 25, port }
    }

    fn rule(self) -> String {
        format!("allow src {}/{} && dst port {}", self.src, self.len, self.port)
    }
}

/// Makes UDP packets each of which matches one of `RULES` rules, at random.
const RULE_SOURCE: Class =
    Class::new("RuleSource", rule_source).ports("0/1").processing("/h").activity(Activity::Always);

struct RuleSource {
    sample: Vec<u8>,
    rules: Vec<Allowed>,
    left: u64,
    random: u32,
}

fn rule_source(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut rules, mut left) = (1, 0);
    config.args().required("RULES", &mut rules).required("LIMIT", &mut left).finish()?;
    Ok(Box::new(RuleSource {
        sample: sample(),
        rules: (0..rules).map(Allowed::by_rule).collect(),
        left,
        random: 1,
    }))
}

/// A packet of 64 bytes, with its Ethernet header and checksum. The filter does not look at checksums.
fn sample() -> Vec<u8> {
    let mut data = vec![0; 46];
    if let Ok(mut header) = Header::new_checked_mut(&mut data) {
        header.set_version_and_header_len(HEADER_LEN);
        header.set_total_len(46);
        header.set_ttl(64);
        header.set_protocol(ip_proto::UDP);
        header.set_dst(Ipv4Addr::new(198, 51, 100, 1));
    }
    data
}

impl Element for RuleSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.left == 0 {
            return cx.info().please_stop();
        }
        let mut batch = cx.batch();
        for _ in 0..self.left.min(cx.vector() as u64) {
            let Some(mut packet) = cx.pool().packet(&self.sample) else { break };
            self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let rule = (u64::from(self.random) * self.rules.len() as u64) >> 32;
            let Allowed { src, port, .. } = self.rules[rule as usize];
            packet.data_mut()[12..16].copy_from_slice(&src.octets());
            packet.data_mut()[22..24].copy_from_slice(&port.to_be_bytes());
            packet.set_network(0, HEADER_LEN);
            batch.push(packet);
        }
        self.left -= batch.len() as u64;
        cx.tasks().schedule();
        cx.emit(0, batch);
    }
}

const CASES: &[(&str, u32)] =
    &[("10 rules", 10), ("100 rules", 100), ("1,000 rules", 1_000), ("10,000 rules", 10_000)];

/// Nanoseconds of processor time for some packets through an element.
fn time(rules: u32, packets: u64, through: &str) -> Result<f64, String> {
    let config = format!("RuleSource({rules}, {packets}) -> {through} -> Discard;");
    let library = elements::classes();
    let known = Classes::new(library.iter().chain([&RULE_SOURCE]));
    let options = Options { pin: Some(0), ..Options::default() };
    let mut router = assembly::build(("filter", &config), &[], &known, options)?;
    let start = processor_time_of_all();
    router.run();
    let elapsed = (processor_time_of_all() - start).as_nanos() as f64;
    router.finish();
    match router.drops().first() {
        Some((_, reason, packets)) => Err(format!("{packets} packets dropped: {reason}")),
        None => Ok(elapsed),
    }
}

/// Nanoseconds that a packet spends in the filter.
fn measure(rules: u32, packets: u64) -> Result<f64, String> {
    let list: Vec<String> = (0..rules).map(|rule| Allowed::by_rule(rule).rule()).collect();
    let with = time(rules, packets, &format!("IPFilter({})", list.join(", ")))?;
    Ok((with - time(rules, packets, "Null")?) / packets as f64)
}

/// Measures all cases, interleaved, and prints them.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let (runs, packets) =
        if arguments.tiny { (1, 10_000) } else { (arguments.runs.max(1), arguments.packets) };
    let machine = Machine::here(); // before the worker is bound to a processor
    let mut times = vec![Vec::new(); CASES.len()];
    for _ in 0..runs {
        for ((_, rules), times) in CASES.iter().zip(&mut times) {
            times.push(measure(*rules, packets)?);
        }
    }
    let figures = CASES.iter().zip(times).map(|((name, _), ns)| Figure::new(name, &ns, packets, 1));
    Report { machine, figures: figures.collect() }.print("IPFilter", arguments.json);
    Ok(())
}
