//! Nanoseconds to protect a packet by AES-128-GCM: by the bare ciphers, and by the elements that use them, on one core and on two, interleaved in one run.

use crate::forward;
use crate::machine::Machine;
use crate::rcu::Spread;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{AeadInOut, Aes128Gcm, KeyInit};
use serde::Serialize;
use std::hint::black_box;
use std::net::Ipv4Addr;
use std::time::Instant;

mod sealed;

/// Octets of the IP packets.
const SIZES: [usize; 3] = [64, 340, 1450];
const KEY: [u8; 16] = [0x5a; 16];

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Runs of each.
    #[arg(long, default_value_t = 9)]
    runs: usize,
    /// Packets a run.
    #[arg(long, default_value_t = 1_000_000)]
    packets: u64,
    /// Only the subjects whose names contain this.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// One short run of each, to see that it works.
    #[arg(long)]
    tiny: bool,
    /// Machine-readable output.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Figure {
    what: &'static str,
    octets: usize,
    ns_median: f64,
    ns_min: f64,
    ns_max: f64,
    /// The rate, as a multiple of another subject's.
    rate: Option<Rate>,
}

#[derive(Clone, Copy, Serialize)]
struct Rate {
    times: f64,
    that_of: &'static str,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    runs: usize,
    packets: u64,
    figures: Vec<Figure>,
}

/// What is measured, by names.
const SUBJECTS: [&str; 15] = [
    "source alone",
    "bare aes-gcm",
    "bare graviola",
    "bare gcm",
    "ESPEncap, IPEncap",
    "IPsec",
    TWO_CORES,
    SPREAD,
    "IPsec, 1 SA",
    "IPsec, 100 SAs",
    "IPsec, 10,000 SAs",
    sealed::SOURCE,
    "opened, 1 SA",
    "opened, 100 SAs",
    "opened, 10,000 SAs",
];

/// The source of packets to random addresses.
const SPREAD: &str = "source, many";

/// Two workers, each with a source and an association of its own, in one element.
const TWO_CORES: &str = "IPsec, 2 cores";

/// Subjects whose rate is said as a multiple of another's.
const BESIDE: [(&str, &str); 3] =
    [(TWO_CORES, "IPsec"), (SUBJECTS[10], SUBJECTS[8]), (SUBJECTS[14], SUBJECTS[12])];

/// Gateways with many associations, each packet for any of them: how many, and the length of the prefix whose addresses share them.
const MANY: [(&str, u32, u8); 4] =
    [(SPREAD, 0, 18), (SUBJECTS[8], 1, 32), (SUBJECTS[9], 100, 25), (SUBJECTS[10], 10_000, 18)];

/// The same for packets from outside, and how many associations there are in the gateway that opens them.
const OPENED: [(&str, u32); 3] = [(SUBJECTS[12], 1), (SUBJECTS[13], 100), (SUBJECTS[14], 10_000)];

/// Nanoseconds a packet of a subject; none where it does not run.
fn time(subject: &str, octets: usize, packets: u64) -> Result<Option<f64>, String> {
    match subject {
        "bare aes-gcm" => {
            let cipher = Aes128Gcm::new_from_slice(&KEY).map_err(|error| error.to_string())?;
            Ok(Some(bare(octets, packets, |nonce, text| {
                let sealed = cipher.encrypt_inout_detached(&nonce.into(), &[0; 8], InOutBuf::from(text));
                black_box(sealed.is_ok());
            })))
        }
        "bare graviola" => Ok(graviola(octets, packets)),
        "bare gcm" => Ok(gcm::Key::new(&KEY).map(|key| {
            bare(octets, packets, |nonce, text| {
                black_box(key.seal(&nonce, &[0; 8], text));
            })
        })),
        sealed::SOURCE => sealed::nanoseconds(0, octets, packets).map(Some),
        TWO_CORES => forward::nanoseconds_of(&two_cores(octets), packets, 2).map(Some),
        _ => match OPENED.iter().find(|(name, _)| *name == subject) {
            Some((_, count)) => sealed::nanoseconds(*count, octets, packets).map(Some),
            None => forward::nanoseconds(&config(subject, octets), packets).map(Some),
        },
    }
}

/// Seals places in turn, as many as a batch has packets, of the length that a packet of so many octets has with its trailer. A place that was just
/// written would have to be waited for.
fn bare(octets: usize, packets: u64, mut seal: impl FnMut([u8; 12], &mut [u8])) -> f64 {
    let mut texts = vec![vec![0; (octets + 2).next_multiple_of(4)]; 32];
    let start = Instant::now();
    for (number, at) in (0..packets).zip((0..texts.len()).cycle()) {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&number.to_be_bytes());
        seal(nonce, black_box(&mut texts[at]));
    }
    start.elapsed().as_nanos() as f64 / packets as f64
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn graviola(octets: usize, packets: u64) -> Option<f64> {
    // It asserts what it needs of the processor.
    let cipher = std::panic::catch_unwind(|| graviola::aead::AesGcm::new(&KEY)).ok()?;
    Some(bare(octets, packets, |nonce, text| {
        let mut check = [0; 16];
        cipher.encrypt(&nonce, &[0; 8], text, &mut check);
        black_box(check);
    }))
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn graviola(_: usize, _: u64) -> Option<f64> {
    None
}

/// A source of packets of so many octets, and what protects them.
fn config(subject: &str, octets: usize) -> String {
    if let Some((_, count, len)) = MANY.iter().find(|(name, ..)| *name == subject) {
        return many(*count, *len, octets);
    }
    let key = "5a".repeat(16) + "01020304";
    let data = format!("4500{octets:04x} 00000000 40110000 0a000109 0a000208 {}", "00".repeat(octets - 20));
    let protect = match subject {
        "ESPEncap, IPEncap" => format!("-> ESPEncap(0x1001, \\<{key}>) -> IPEncap(esp, 192.0.2.1, 192.0.2.2) -> d"),
        "IPsec" => format!(
            "-> e :: IPsec(SA 192.0.2.1 192.0.2.2 0x1001 aes-gcm key {key}, POLICY out 10.0.1.0/24 10.0.2.0/24 protect 192.0.2.1 192.0.2.2);
             Idle -> [1]e; e[1] -> Discard; e[0] -> d"
        ),
        _ => "-> d".to_owned(),
    };
    format!(
        "define($BURST 32, $LIMIT 1);
         InfiniteSource(DATA \\<{data}>, BURST $BURST, LIMIT $LIMIT, STOP true) -> MarkIPHeader {protect} :: Discard;"
    )
}

/// Two sources of packets to different networks, and an association for each.
fn two_cores(octets: usize) -> String {
    let (mut sources, mut arguments) = (String::new(), Vec::new());
    for worker in 0..2 {
        let data = format!(
            "4500{octets:04x} 00000000 40110000 0a000109 0a00020{worker} {}",
            "00".repeat(octets - 20)
        );
        sources += &format!(
            "s{worker} :: InfiniteSource(DATA \\<{data}>, BURST $BURST, LIMIT $LIMIT, STOP true) -> MarkIPHeader -> e;"
        );
        let (key, ends) = (format!("{worker:08x}").repeat(5), "192.0.2.1 192.0.2.2");
        arguments.push(format!("SA {ends} 0x100{worker} aes-gcm key {key} reqid {}", 1 + worker));
        arguments
            .push(format!("POLICY out 10.0.1.0/24 10.0.2.{worker}/32 protect {ends} reqid {}", 1 + worker));
    }
    format!(
        "define($BURST 32, $LIMIT 1);
         e :: IPsec({}); e[0] -> d :: Discard; Idle -> [1]e; e[1] -> Discard;
         {sources} StaticThreadSched(s0 0, s1 1);",
        arguments.join(", ")
    )
}

/// So many associations with keys of their own, and a policy of a direction for each address of a prefix.
fn arguments(count: u32, len: u8, direction: &str) -> String {
    let mut arguments = Vec::new();
    for number in 1..=count {
        let key = format!("{number:08x}").repeat(5);
        arguments
            .push(format!("SA 192.0.2.1 192.0.2.2 {} aes-gcm key {key} reqid {number}", 0x1000 + number));
    }
    for address in 0..1 << (32 - len) {
        let far = Ipv4Addr::from(0x0a02_0000 + address);
        let ends = match direction {
            "out" => format!("10.0.1.0/24 {far}/32"),
            _ => format!("{far}/32 10.0.1.0/24"),
        };
        let reqid = 1 + address % count;
        arguments.push(format!("POLICY {direction} {ends} protect 192.0.2.1 192.0.2.2 reqid {reqid}"));
    }
    arguments.join(", ")
}

/// The length of the prefix whose addresses so many associations are for.
fn prefix_len(count: u32) -> u8 {
    MANY.iter().find(|(_, many, _)| *many == count).map_or(32, |(_, _, len)| *len)
}

/// A source of packets to random addresses of a prefix, and so many associations.
fn many(count: u32, len: u8, octets: usize) -> String {
    let data = format!("4500{octets:04x} 00000000 40110000 0a000109 0a020000 {}", "00".repeat(octets - 20));
    let protect = match count {
        0 => "-> d".to_owned(),
        _ => {
            let arguments = arguments(count, len, "out");
            format!("-> e :: IPsec({arguments}); Idle -> [1]e; e[1] -> Discard; e[0] -> d")
        }
    };
    format!(
        "define($BURST 32, $LIMIT 1);
         InfiniteSource(DATA \\<{data}>, BURST $BURST, LIMIT $LIMIT, STOP true) -> MarkIPHeader
           -> SetRandIPAddress(10.2.0.0/{len}) -> StoreIPAddress(dst) {protect} :: Discard;"
    )
}

/// Measures all, interleaved, and prints them.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let (runs, packets) =
        if arguments.tiny { (1, 2_000) } else { (arguments.runs.max(1), arguments.packets) };
    let machine = Machine::here();
    let is_wanted = |subject: &&str| arguments.only.as_ref().is_none_or(|only| subject.contains(only));
    let wanted = || SUBJECTS.iter().copied().filter(is_wanted);
    let subjects: Vec<(&'static str, usize)> =
        SIZES.iter().flat_map(|octets| wanted().map(|subject| (subject, *octets))).collect();
    let mut times = vec![Vec::new(); subjects.len()];
    for _ in 0..runs {
        for (times, (subject, octets)) in times.iter_mut().zip(&subjects) {
            times.extend(time(subject, *octets, packets)?);
        }
    }
    let mut figures: Vec<Figure> = Vec::new();
    for ((what, octets), ns) in subjects.into_iter().zip(times).filter(|(_, ns)| !ns.is_empty()) {
        let Spread { median: ns_median, min: ns_min, max: ns_max } = Spread::of(&ns);
        let beside = BESIDE.iter().find(|(subject, _)| *subject == what).map(|(_, other)| *other);
        let other = figures.iter().find(|other| beside == Some(other.what) && other.octets == octets);
        let rate = other.map(|other| Rate { times: other.ns_median / ns_median, that_of: other.what });
        figures.push(Figure { what, octets, ns_median, ns_min, ns_max, rate });
    }
    let report = Report { machine, runs, packets, figures };
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report).unwrap_or_default());
        return Ok(());
    }
    println!("{}", report.machine.line());
    println!("{:20} {:>7} {:>8} {:>8} {:>8}  rate", "ns a packet", "octets", "median", "min", "max");
    for f in &report.figures {
        let rate =
            f.rate.map_or(String::new(), |rate| format!("{:.2} times that of {}", rate.times, rate.that_of));
        println!(
            "{:20} {:>7} {:8.1} {:8.1} {:8.1}  {rate}",
            f.what, f.octets, f.ns_median, f.ns_min, f.ns_max
        );
    }
    Ok(())
}
