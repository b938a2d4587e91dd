//! Routes from zebra's FPM interface into a table: how many for each second of the receiver's processor time, and what forwarding on
//! another core keeps of its rate while routes of a full table change; and how long a group of next hops takes to change under all of them.
//!
//! The stream is encoded beforehand and comes over a socket, as zebra's: two next hops, a group of both, and routes to that group.

use crate::assembly;
use crate::machine::Machine;
use router::{Call, Classes, Handle, Options};
use serde::Serialize;
use std::io::Write;
use std::net::{IpAddr, TcpStream};
use std::time::{Duration, Instant};

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IPv4 routes.
    #[arg(long, default_value_t = 1_000_000)]
    v4: u32,
    /// IPv6 routes.
    #[arg(long, default_value_t = 500_000)]
    v6: u32,
    /// Runs of each family.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Changes of the group in each run.
    #[arg(long, default_value_t = 100)]
    changes: usize,
    /// One short run of each, to see that it works.
    #[arg(long)]
    tiny: bool,
    /// Machine-readable output.
    #[arg(long)]
    json: bool,
}

/// A result.
#[derive(Serialize)]
struct Figure {
    family: &'static str,
    routes: u32,
    /// From the first byte sent until the table has all routes.
    seconds: f64,
    /// Of which the receiving thread had a processor.
    cpu_seconds: f64,
    routes_per_cpu_second: f64,
    /// Packets a second that another worker forwards by random destinations, with all routes in the table: while nothing changes, and
    /// while every route comes once more with another group.
    idle_pps: f64,
    busy_pps: f64,
    /// From a changed group sent until the table leads there, for all routes: the median, and the longest.
    group_us_median: f64,
    group_us_max: f64,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    figures: Vec<Figure>,
}

/// Runs it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let (runs, changes) = if arguments.tiny { (1, 3) } else { (arguments.runs, arguments.changes) };
    let routes = |asked: u32| if arguments.tiny { 20_000 } else { asked };
    let pause = Duration::from_millis(if arguments.tiny { 20 } else { 1_000 });
    let mut figures = Vec::new();
    for _ in 0..runs {
        for (family, count) in [(&V4, routes(arguments.v4)), (&V6, routes(arguments.v6))] {
            figures.push(measure(family, count, changes, pause)?);
        }
    }
    let report = Report { machine: Machine::here(), figures };
    if arguments.json {
        let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
        println!("{text}");
        return Ok(());
    }
    println!("{}", report.machine.line());
    for figure in &report.figures {
        println!(
            "{}: {} routes in {:.2} s, {:.0} a second of processor time; forwarding at {:.2} of idle; group {:.0} us (at most {:.0})",
            figure.family,
            figure.routes,
            figure.seconds,
            figure.routes_per_cpu_second,
            figure.busy_pps / figure.idle_pps,
            figure.group_us_median,
            figure.group_us_max
        );
    }
    Ok(())
}

/// What differs between the families.
struct Family {
    name: &'static str,
    /// `AF_INET`, `AF_INET6`.
    number: u8,
    len: u8,
    config: &'static str,
    /// The destination of a route, by number.
    prefix: fn(u32) -> Vec<u8>,
    /// A gateway, by number.
    gateway: fn(u8) -> Vec<u8>,
}

const V4: Family = Family {
    name: "IPv4",
    number: 2,
    len: 24,
    config: "RandomSource(64) -> GetIPAddress(16) -> rt :: IPLookup(NOROUTE 1); rt[0] -> sent :: Counter -> Discard;
        rt[1] -> lost :: Counter -> Discard; fpm :: FPMServer(lo 0, IPV4 rt, PORT 0);",
    prefix: |n| ((1 << 24) + (n << 8)).to_be_bytes().to_vec(),
    gateway: |n| vec![192, 0, 2, n],
};

const V6: Family = Family {
    name: "IPv6",
    number: 10,
    len: 48,
    config: "RandomSource(64) -> GetIP6Address(24) -> rt :: IP6Lookup(NOROUTE 1); rt[0] -> sent :: Counter -> Discard;
        rt[1] -> lost :: Counter -> Discard; fpm :: FPMServer(lo 0, IPV6 rt, PORT 0);",
    prefix: |n| (0x2001u128 << 112 | u128::from(n) << 80).to_be_bytes().to_vec(),
    gateway: |n| [&[0xfe, 0x80], &[0; 13][..], &[n]].concat(),
};

const RTM_NEWROUTE: u16 = 24;
const RTM_NEWNEXTHOP: u16 = 104;
/// `NLM_F_REQUEST`, `NLM_F_CREATE`, `NLM_F_REPLACE`.
const FLAGS: u16 = 0x501;
/// The loopback interface.
const LO: u32 = 1;
/// The numbers of the next hops, which end their gateways too.
const HOPS: [u32; 6] = [1, 2, 3, 4, 5, 6];
/// The groups that routes lead to, and their first members.
const GROUPS: [(u32, [u32; 2]); 2] = [(8, [1, 2]), (9, [5, 6])];

/// A message of zebra's: the frame, the header of netlink, a fixed part, attributes.
fn message(kind: u16, fixed: &[u8], attributes: &[(u16, &[u8])]) -> Vec<u8> {
    let mut body = fixed.to_vec();
    for (kind, value) in attributes {
        body.extend(((value.len() + 4) as u16).to_ne_bytes());
        body.extend(kind.to_ne_bytes());
        body.extend(*value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    let len = body.len() + 16;
    let mut message = vec![1, 1];
    message.extend(((len + 4) as u16).to_be_bytes());
    message.extend((len as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(FLAGS.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

impl Family {
    fn hop(&self, id: u32) -> Vec<u8> {
        let (id_bytes, lo) = (id.to_ne_bytes(), LO.to_ne_bytes());
        let gateway = (self.gateway)(id as u8);
        // NHA_ID, NHA_OIF, NHA_GATEWAY.
        let fixed = [self.number, 0, 11, 0, 0, 0, 0, 0];
        message(RTM_NEWNEXTHOP, &fixed, &[(1, &id_bytes), (5, &lo), (6, &gateway)])
    }

    fn group(&self, id: u32, members: [u32; 2]) -> Vec<u8> {
        let members: Vec<u8> =
            members.iter().flat_map(|id| id.to_ne_bytes().into_iter().chain([0; 4])).collect();
        // NHA_ID, NHA_GROUP.
        let id = id.to_ne_bytes();
        message(RTM_NEWNEXTHOP, &[0, 0, 11, 0, 0, 0, 0, 0], &[(1, &id), (2, &members)])
    }

    fn route(&self, n: u32, group: u32) -> Vec<u8> {
        let (to, group) = ((self.prefix)(n), group.to_ne_bytes());
        let fixed = [self.number, self.len, 0, 0, 254, 186, 0, 1, 0, 0, 0, 0];
        // RTA_DST, RTA_NH_ID.
        message(RTM_NEWROUTE, &fixed, &[(1, &to), (30, &group)])
    }
}

/// One run: fills a table, and changes the group.
fn measure(family: &Family, count: u32, changes: usize, pause: Duration) -> Result<Figure, String> {
    let [stream, changed] =
        GROUPS.map(|(group, _)| (0..count).flat_map(|n| family.route(n, group)).collect::<Vec<u8>>());
    let known = Classes::new(elements::classes().iter().chain(control::CLASSES.iter().copied()));
    let options = Options { workers: 1, pin: Some(0), ..Options::default() };
    let mut router = assembly::build((family.name, family.config), &[], &known, options)?;
    let handle = router.handle();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            router.run();
            router.finish();
        });
        let figure = with(&handle, family, count, [&stream, &changed], changes, pause);
        handle.stop();
        running.join().map_err(|_| "the router failed".to_owned())?;
        figure
    })
}

fn with(
    handle: &Handle,
    family: &Family,
    count: u32,
    [stream, changed]: [&[u8]; 2],
    changes: usize,
    pause: Duration,
) -> Result<Figure, String> {
    let port = number(handle, "fpm.port")? as u16;
    let mut zebra = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
    let mut send = |bytes: &[u8]| zebra.write_all(bytes).map_err(|error| format!("fpm: {error}"));
    HOPS.iter().try_for_each(|id| send(&family.hop(*id)))?;
    GROUPS.iter().try_for_each(|&(group, members)| send(&family.group(group, members)))?;
    let (cpu, start) = (receiver_ns()?, Instant::now());
    send(stream)?;
    wait_for(|| Ok(number(handle, "rt.length")? as u32 >= count))?;
    let seconds = start.elapsed().as_secs_f64();
    let cpu_seconds = (receiver_ns()? - cpu) as f64 / 1e9;
    let rate = |meanwhile: &mut dyn FnMut() -> Result<(), String>| {
        let (before, start) = (forwarded(handle)?, Instant::now());
        meanwhile()?;
        Ok::<_, String>((forwarded(handle)? - before) / start.elapsed().as_secs_f64())
    };
    let idle_pps = rate(&mut || {
        std::thread::sleep(pause);
        Ok(())
    })?;
    let leads_to = |(_, members): (u32, [u32; 2])| {
        let gateway = last_gateway(handle, family, count)?;
        Ok(members.iter().any(|member| gateway.ends_with(&member.to_string())))
    };
    let busy_pps = rate(&mut || {
        send(changed)?;
        wait_for(|| leads_to(GROUPS[1]))
    })?;
    send(stream)?;
    wait_for(|| leads_to(GROUPS[0]))?;
    let mut times = Vec::new();
    let events = handle.info().events.subscribe(vec!["route".to_owned()]);
    // The table has the last routes a moment before their events come.
    while events.recv_timeout(Duration::from_millis(100)).is_ok() {}
    for n in 0..changes {
        let (group, first) = GROUPS[0];
        let members = if n % 2 == 0 { [3, 4] } else { first };
        let start = Instant::now();
        send(&family.group(group, members))?;
        // The event comes when the table leads there.
        let heard =
            events.recv_timeout(Duration::from_secs(60)).map_err(|error| format!("group: {error}"))?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
        if !heard.starts_with("route nexthop rt ") {
            return Err(format!("more than the group has changed: {heard}"));
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(Figure {
        family: family.name,
        routes: count,
        seconds,
        cpu_seconds,
        routes_per_cpu_second: f64::from(count) / cpu_seconds,
        idle_pps,
        busy_pps,
        group_us_median: times.get(times.len() / 2).copied().unwrap_or(f64::NAN),
        group_us_max: times.last().copied().unwrap_or(f64::NAN),
    })
}

/// Packets that came through so far, with a route or without.
fn forwarded(handle: &Handle) -> Result<f64, String> {
    Ok(number(handle, "sent.count")? + number(handle, "lost.count")?)
}

/// Where the last route leads.
fn last_gateway(handle: &Handle, family: &Family, count: u32) -> Result<String, String> {
    let prefix = (family.prefix)(count - 1);
    let address: IpAddr = match (prefix.first_chunk::<4>(), prefix.first_chunk::<16>()) {
        (_, Some(&bytes)) => bytes.into(),
        (Some(&bytes), None) => bytes.into(),
        (None, None) => return Err("a prefix has 4 or 16 octets".to_owned()),
    };
    handle.call(Call::read("rt.lookup", address.to_string())).map_err(|error| error.message)
}

fn number(handle: &Handle, path: &str) -> Result<f64, String> {
    let text = handle.call(Call::read(path, "")).map_err(|error| error.message)?;
    text.parse().map_err(|_| format!("'{path}' is no number: {text}"))
}

/// Nanoseconds that the threads which bring routes have had a processor.
fn receiver_ns() -> Result<u64, String> {
    let tasks = std::fs::read_dir("/proc/self/task").map_err(|error| error.to_string())?;
    let mut spent = 0;
    for task in tasks.flatten() {
        let of = |file: &str| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
        if of("comm").trim_end() == "routes" {
            let first = of("schedstat").split_whitespace().next().and_then(|ns| ns.parse::<u64>().ok());
            spent += first.ok_or("this kernel does not say what threads spend")?;
        }
    }
    Ok(spent)
}

/// Waits until something is so.
fn wait_for(mut done: impl FnMut() -> Result<bool, String>) -> Result<(), String> {
    let start = Instant::now();
    while !done()? {
        if start.elapsed() > Duration::from_secs(600) {
            return Err("the routes do not arrive".to_owned());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
