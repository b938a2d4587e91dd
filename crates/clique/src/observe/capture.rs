//! `clique capture`: the packets of any edge of a running router.

use super::events::{Events, Interrupts, is_end};
use super::pcapng::Pcapng;
use super::{bytes, ended, number, print, text};
use crate::address::Address;
use crate::console;
use crate::reply;
use crate::status::Status;
use serde_json::Value;

/// Arguments of `clique capture`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,

    /// The edge: ELEMENT[PORT] for an output, [PORT]ELEMENT for an input.
    edge: String,

    /// Write pcapng to FILE ('-': standard output).
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    write: String,

    /// Print an object of JSON for each packet, one a line, instead of pcapng: time, element and port, length, summary, and bytes in hexadecimal.
    #[arg(long, conflicts_with = "write")]
    json: bool,

    /// Stop after N packets.
    #[arg(short = 'n', long, value_name = "N", default_value = "0", hide_default_value = true)]
    count: u64,

    /// Only packets that match this pattern of IPClassifier, 'dst 10.0.0.0/8 and tcp' for instance.
    #[arg(short, long, value_name = "PATTERN", default_value = "", hide_default_value = true)]
    filter: String,

    /// Bytes of each packet, at most.
    #[arg(short, long, value_name = "BYTES", default_value = "2048", value_parser = clap::value_parser!(u64).range(1..=32768))]
    snaplen: u64,

    /// Stop after so many seconds.
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
}

/// Runs `clique capture`.
pub(crate) fn run(args: &Args) -> Status {
    ended("capture", capture(args))
}

fn capture(args: &Args) -> Result<(), String> {
    let mut client = args.address.connect()?;
    let snaplen = usize::try_from(args.snaplen).unwrap_or(usize::MAX);
    let interrupts = Interrupts::catch()?;
    reply::fine(client.capture(&args.edge, args.count, args.seconds, snaplen, &args.filter))?;
    let mut file = if args.json { None } else { Some(Pcapng::create(&args.write)?) };
    let events = Events::of(client);
    let mut written = 0;
    while let Some(packet) = events.next(&interrupts)? {
        if is_end(&packet) {
            let (seen, lost) = (number(&packet, "packets"), number(&packet, "lost"));
            console::complain(&format!(
                "{seen} packets captured, {lost} lost because the reader was too slow\n"
            ));
            return Ok(());
        }
        // A reader sees each packet when it comes; that it has gone ends the capture.
        let is_read = match &mut file {
            None => print(&line(packet))?,
            Some(file) => {
                let ethernet = text(&packet, "link") == "ethernet";
                file.packet(ethernet, number(&packet, "at_ns"), number(&packet, "len"), &bytes(&packet), "")?;
                file.flush()?
            }
        };
        if !is_read {
            return Ok(());
        }
        written += 1;
    }
    console::complain(&format!("{written} packets captured until the interruption\n"));
    Ok(())
}

/// A packet as a line of JSON.
fn line(mut packet: Value) -> String {
    let hex: String = bytes(&packet).iter().map(|byte| format!("{byte:02x}")).collect();
    packet["bytes"] = hex.into();
    format!("{packet}\n")
}
