//! Sends TCP segments to a server, as fast as the server answers.
//!
//! ```click
//! ToyTCP(DPORT)
//! ```
//!
//! Receives and sends TCP segments without IP headers. It sends one segment per second, and one for each segment
//! received: a SYN until the server has accepted the connection, then segments with one byte of data, whose sequence
//! numbers leave gaps so that the server answers immediately. For every fifth segment received it sends one more.
//! When the server resets the connection, it opens a new one at the next second. It prints its counters once a
//! second.
//!
//! Checksums are left at 0: put IPEncap and SetTCPChecksum after it.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `DPORT` (port): the server's port.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Classifier(12/0800 23/06) -> Strip(34) -> ToyTCP(80) -> IPEncap(tcp, 1.0.0.1, 1.0.0.2) -> SetTCPChecksum
//!   -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> Queue -> ToDevice(eth0)
//! ```
//!
//! # See also
//! WebGen, TCPIPSend, FastTCPFlows, TCPReflector

use packet::{Batch, DEFAULT_HEADROOM, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, IpPort, Residency};
use std::time::Duration;
use wire::tcp::{HEADER_LEN, Header, flag};

/// The class.
pub(crate) const CLASS: Class = Class::new("ToyTCP", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(include_str!("toy_tcp.rs"));

/// Timers.
const SEND: u32 = 0;
const REPORT: u32 = 1;
const SECOND: Duration = Duration::from_secs(1);
const NS_PER_S: i64 = 1_000_000_000;
/// Windows: most segments offer the larger one.
const WINDOWS: [u16; 2] = [60 * 1024, 30 * 1024];

#[derive(Default)]
struct ToyTcp {
    ports: [u16; 2],
    /// The number of the SYN.
    initial: u32,
    /// The server's next number, once it has accepted.
    expected: Option<u32>,
    was_reset: bool,
    /// Segments since one more was emitted, and since the smaller window was offered.
    since_more: u32,
    since_small: u32,
    good: u32,
    bad: u32,
    out: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut port = IpPort::default();
    config.args().required("DPORT", &mut port).finish()?;
    Ok(Box::new(ToyTcp { ports: [0, port.0], ..ToyTcp::default() }))
}

impl ToyTcp {
    /// Begins a connection.
    fn restart(&mut self, cx: &Cx<'_>) {
        let now_ns = cx.now_ns();
        self.initial = (now_ns / NS_PER_S) as u32 & 0x0fff_ffff;
        self.ports[0] = 1024 + (now_ns % NS_PER_S / 1000 % 60_000) as u16;
        self.expected = None;
        self.was_reset = false;
        (self.since_more, self.since_small) = (0, 0);
    }

    fn take(&mut self, cx: &Cx<'_>, packet: &Packet) {
        let Ok(header) = Header::new_checked(packet.data()) else { return };
        if [header.dst_port(), header.src_port()] != self.ports {
            return;
        }
        let accepts = header.flags() & (flag::ACK | flag::RST) == flag::ACK
            && header.acknowledgement() == self.initial.wrapping_add(1);
        if accepts && self.expected.is_none() {
            self.expected = Some(header.sequence().wrapping_add(1));
            cx.log("ToyTCP connected");
        }
        if header.flags() & flag::RST != 0 {
            let (port, good, out) = (header.src_port(), self.good, self.out);
            cx.log(&format!("ToyTCP: RST from port {port}, in {good}, out {out}"));
            self.bad += 1;
            self.was_reset = true;
        } else {
            self.good += 1;
        }
    }

    fn emit(&mut self, cx: &mut Cx<'_>) {
        let len = HEADER_LEN + usize::from(self.expected.is_some());
        let Some(mut packet) = cx.pool().alloc(DEFAULT_HEADROOM, len) else {
            return cx.count_drops("no buffer", 1);
        };
        let bytes = packet.data_mut();
        bytes.fill(0);
        if let Ok(mut header) = Header::new_checked_mut(bytes) {
            self.fill(&mut header);
        }
        self.out = self.out.wrapping_add(1);
        cx.emit_packet(0, packet);
    }

    fn fill(&mut self, header: &mut Header<&mut [u8; HEADER_LEN]>) {
        header.set_src_port(self.ports[0]);
        header.set_dst_port(self.ports[1]);
        header.set_header_len(HEADER_LEN);
        match self.expected {
            None => {
                header.set_sequence(self.initial);
                header.set_flags(flag::SYN);
            }
            Some(expected) => {
                header.set_sequence(self.initial.wrapping_add(2 + (self.out & 0xfff)));
                header.set_flags(flag::ACK);
                header.set_acknowledgement(expected);
            }
        }
        let small = self.since_small > 2;
        self.since_small = if small { 0 } else { self.since_small + 1 };
        header.set_window(WINDOWS[usize::from(small)]);
    }
}

impl Element for ToyTcp {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.restart(cx);
        cx.timer_after(SEND, SECOND);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        if key == REPORT {
            return cx.log(&format!("ToyTCP: {} good in, {} bad in, {} out", self.good, self.bad, self.out));
        }
        if self.was_reset {
            self.restart(cx);
        }
        self.emit(cx);
        cx.timer_after(SEND, SECOND);
        // What is emitted is on its way only when this returns.
        cx.timer_after(REPORT, Duration::ZERO);
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        for packet in batch.iter() {
            if self.was_reset {
                break;
            }
            self.take(cx, packet);
            self.emit(cx);
            self.since_more += 1;
            if self.since_more > 5 {
                self.emit(cx);
                self.since_more = 0;
            }
        }
        cx.consume(batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    /// A server that accepts, and one that resets the connection.
    #[test]
    fn connects() {
        let config = |answer: &str| {
            format!(
                "t :: ToyTCP(80) -> IPEncap(6, 1.0.0.1, 2.0.0.2) -> SetTCPChecksum -> p :: IPPrint(TIMESTAMP false) -> {answer}
                 -> Strip(20) -> t; Script(wait 2.5, stop)"
            )
        };
        let said =
            run(&config("q :: Queue -> DelayUnqueue(0.6) -> TCPReflector(RAND_SEQ false) -> CheckIPHeader"));
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[0].starts_with("1.0.0.1.1024 > 2.0.0.2.80: S "), "{said}");
        assert_eq!(lines[1..3], ["ToyTCP: 0 good in, 0 bad in, 1 out", "ToyTCP connected"]);
        assert!(lines[3].contains(": . ") && lines[3].contains("(1,41,41) ack 1 win 61440"), "{said}");
        assert!(lines.contains(&"ToyTCP: 1 good in, 0 bad in, 3 out"), "{said}");
        let said = run(&config("StoreData(33, \\<14>) -> IPMirror"));
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[1], "ToyTCP: RST from port 80, in 0, out 1", "{said}");
    }
}
