//! Takes packets, and notes where they came from.
//!
//! ```click
//! Sink()
//! ```
//!
//! Ports: any number of inputs. Processing: push. Workers: one.
//!
//! # Handlers
//! - `count` (read): packets.
//! - `note` (write, boolean): note packets from now on, or no longer; those noted before are forgotten.
//! - `noted` (read): a line for each packet by its number (the annotation): the number, the input, and the destination annotation. Packets
//!   that did not come have no line.
//!
//! # Example
//! ```click
//! Idle -> s :: Sink; Idle -> [1] s
//! ```
//!
//! # See also
//! RingSource

use packet::{Anno, Batch};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::fmt::Write;
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("Sink", create)
    .ports("-/0")
    .processing("h/")
    .residency(Residency::Exclusive)
    .absorbs("all packets")
    .doc(router::manual!("sink.rs"));

struct Sink {
    count: u64,
    noting: bool,
    /// By the packets' numbers: input and destination.
    noted: Vec<Option<(usize, Ipv4Addr)>>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Sink { count: 0, noting: false, noted: Vec::new() }))
}

impl Sink {
    fn note(&mut self, port: usize, batch: &Batch) {
        for packet in batch.iter() {
            let number = packet.anno(Anno::PACKET_NUMBER) as usize;
            if self.noted.len() <= number {
                self.noted.resize(number + 1, None);
            }
            self.noted[number] = Some((port, packet.dst_ip()));
        }
    }

    fn lines(&self) -> String {
        let mut text = String::new();
        for (number, noted) in self.noted.iter().enumerate() {
            if let Some((port, destination)) = noted {
                // A string takes whatever is written.
                let _ = writeln!(text, "{number} {port} {destination}");
            }
        }
        text
    }
}

impl Element for Sink {
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        self.count += batch.len() as u64;
        if self.noting {
            self.note(port, &batch);
        }
        cx.consume(batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Sink, _| e.count);
        h.write("note", |e: &mut Sink, cx, text| {
            e.noting = router::value(cx, text)?;
            e.noted = Vec::new();
            Ok(())
        });
        h.read("noted", |e: &mut Sink, _| e.lines());
    }
}
