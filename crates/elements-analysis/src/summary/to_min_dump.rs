//! Writes the addresses, ports, lengths and protocols of packets to a file.
//!
//! ```click
//! ToMinDump(FILENAME [, KEYWORDS])
//! ```
//!
//! Writes 15 bytes for each packet, from which FromMinDump can make packets again. Packets must be IPv4 packets that
//! start with the IP header; ports are read from their position after a header without options. Packets too short for
//! that are not written. It is FastClick's element.
//!
//! Ports: 1 input, 0 or 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file, `-` for standard output, which gets records as soon as packets arrive.
//! - `VERBOSE` (boolean): FastClick's; accepted.
//!
//! # Handlers
//! - `flush` (write): writes out buffered data.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> Strip(14) -> ToMinDump(packets.mindump)
//! ```
//!
//! # See also
//! FromMinDump, ToIPSummaryDump

use super::min_dump::{HEAD, RECORD_LEN};
use elements_shared::pulling::Intake;
use elements_shared::writing::Output;
use packet::Batch;
use router::{Activity, Class, Config, ConfigError, Cx, Element, FileName, Handlers, Pull, Residency};
use std::any::Any;
use std::io::{self, Write};

/// The class.
pub(crate) const CLASS: Class = Class::new("ToMinDump", create)
    .ports("1/0-1")
    .processing("a/h")
    .residency(Residency::Exclusive)
    .activity(Activity::IfPullInput)
    .absorbs("packets, without an output")
    .doc(router::manual!("to_min_dump.rs"));

/// Packets asked for at a time.
const BURST: usize = 32;

/// What goes to a new configuration.
struct Handover {
    filename: String,
    file: Output,
    is_begun: bool,
}

struct ToMinDump {
    filename: String,
    /// Missing before it was opened and after an error.
    file: Option<Output>,
    /// Whether its head is written.
    is_begun: bool,
    intake: Intake,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut filename, mut verbose) = (FileName::default(), false);
    config.args().required("FILENAME", &mut filename).keyword("VERBOSE", &mut verbose).finish()?;
    Ok(Box::new(ToMinDump { filename: filename.0, file: None, is_begun: false, intake: Intake::of(config) }))
}

/// What is written of a packet.
fn record(packet: &[u8]) -> Option<[u8; RECORD_LEN]> {
    let ends = packet.get(12..24)?;
    let mut record = [0; RECORD_LEN];
    record[..12].copy_from_slice(ends);
    record[12..14].copy_from_slice(&u16::try_from(packet.len()).unwrap_or(u16::MAX).to_ne_bytes());
    record[14] = packet[9];
    Some(record)
}

impl ToMinDump {
    fn write_batch(&mut self, cx: &Cx<'_>, batch: &Batch) {
        self.begin(cx);
        let Some(file) = &mut self.file else { return };
        let mut records = batch.iter().filter_map(|packet| record(packet.data()));
        let written = records.try_for_each(|record| file.write_all(&record)).and_then(|()| file.end_batch());
        if let Err(error) = written {
            self.fail(cx, &error);
        }
    }

    /// Writes what stands at the head, unless it is there.
    fn begin(&mut self, cx: &Cx<'_>) {
        if std::mem::replace(&mut self.is_begun, true) {
            return;
        }
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(HEAD).and_then(|()| file.end_batch()) {
            self.fail(cx, &error);
        }
    }

    fn fail(&mut self, cx: &Cx<'_>, error: &io::Error) {
        cx.log(format_args!("{} :: ToMinDump: {}: {}", cx.name(), self.filename, device::plain(error)));
        self.file = None;
    }

    fn flush(&mut self, cx: &Cx<'_>) {
        if let Some(Err(error)) = self.file.as_mut().map(|file| file.flush()) {
            self.fail(cx, &error);
        }
    }
}

impl Element for ToMinDump {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let opened = Output::reserve(&self.filename);
        self.file = Some(opened.map_err(|error| format!("{}: {}", self.filename, device::plain(&error)))?);
        self.intake.begin(cx);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.write_batch(cx, &batch);
        self.intake.pushed(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.ask(0, BURST.min(cx.vector()));
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        self.write_batch(cx, &batch);
        self.intake.pulled(cx, batch)
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        if cx.has_run() {
            self.begin(cx); // without packets it is still a dump
            self.flush(cx);
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let file = self.file.take()?;
        Some(Box::new(Handover { filename: self.filename.clone(), file, is_begun: self.is_begun }))
    }

    /// The file goes on.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<Handover>() else { return };
        let Handover { filename, mut file, is_begun } = *state;
        if filename == self.filename {
            (self.file, self.is_begun) = (Some(file), is_begun);
        } else if let Err(error) = file.flush() {
            cx.error(format_args!("{} :: ToMinDump: {filename}: {}", cx.name(), device::plain(&error)));
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.write("flush", |e: &mut ToMinDump, cx, _| {
            e.flush(cx);
            Ok(())
        });
    }
}
