//! Nanoseconds to protect a packet by AES-128-GCM: by the bare ciphers, and by the elements that use them, interleaved in one run.

use crate::forward;
use crate::machine::Machine;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{AeadInOut, Aes128Gcm, KeyInit};
use serde::Serialize;
use std::hint::black_box;
use std::time::Instant;

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
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    runs: usize,
    packets: u64,
    figures: Vec<Figure>,
}

/// What is measured, by names.
const SUBJECTS: [&str; 5] = ["source alone", "bare aes-gcm", "bare graviola", "ESPEncap, IPEncap", "IPsec"];

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
        _ => forward::nanoseconds(&config(subject, octets), packets).map(Some),
    }
}

/// Seals one place again and again, of the length that a packet of so many octets has with its trailer.
fn bare(octets: usize, packets: u64, mut seal: impl FnMut([u8; 12], &mut [u8])) -> f64 {
    let mut text = vec![0; (octets + 2).next_multiple_of(4)];
    let start = Instant::now();
    for number in 0..packets {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&number.to_be_bytes());
        seal(nonce, black_box(&mut text));
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

/// Measures all, interleaved, and prints them.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let (runs, packets) =
        if arguments.tiny { (1, 2_000) } else { (arguments.runs.max(1), arguments.packets) };
    let machine = Machine::here();
    let subjects: Vec<(&'static str, usize)> =
        SIZES.iter().flat_map(|octets| SUBJECTS.iter().map(|subject| (*subject, *octets))).collect();
    let mut times = vec![Vec::new(); subjects.len()];
    for _ in 0..runs {
        for (times, (subject, octets)) in times.iter_mut().zip(&subjects) {
            times.extend(time(subject, *octets, packets)?);
        }
    }
    let figures =
        subjects.iter().zip(&mut times).filter(|(_, ns)| !ns.is_empty()).map(|((what, octets), ns)| {
            ns.sort_by(f64::total_cmp);
            let (what, octets, ns_median) = (*what, *octets, ns[ns.len() / 2]);
            Figure { what, octets, ns_median, ns_min: ns[0], ns_max: ns[ns.len() - 1] }
        });
    let report = Report { machine, runs, packets, figures: figures.collect() };
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report).unwrap_or_default());
        return Ok(());
    }
    println!("{}", report.machine.line());
    println!("{:20} {:>7} {:>8} {:>8} {:>8}", "ns a packet", "octets", "median", "min", "max");
    for f in &report.figures {
        println!("{:20} {:>7} {:8.1} {:8.1} {:8.1}", f.what, f.octets, f.ns_median, f.ns_min, f.ns_max);
    }
    Ok(())
}
