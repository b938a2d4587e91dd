//! What the servers of a load balancer have got: counted by each worker for itself, and added up by the reader.

use elements_shared::ip_header::header;
use packet::Packet;
use router::FromArg;
use router::Scope;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wire::ip_proto;
use wire::tcp::flag;

/// What the load of a server is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Metric {
    /// TCP connections that have begun and not ended.
    #[default]
    Connections,
    Packets,
    Bytes,
    /// What was last said to be its processors' load.
    Cpu,
}

impl FromArg for Metric {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        match String::from_arg(text, scope)?.as_str() {
            "conn" => Ok(Metric::Connections),
            "packets" => Ok(Metric::Packets),
            "bytes" => Ok(Metric::Bytes),
            "cpu" => Ok(Metric::Cpu),
            _ => router::parse_error("'conn', 'packets', 'bytes' or 'cpu'", text),
        }
    }
}

/// What a server got from one worker, who alone writes here.
#[derive(Debug, Default)]
struct Count {
    /// Begun, and ended: either may happen on any worker.
    begun: AtomicU64,
    ended: AtomicU64,
    packets: AtomicU64,
    bytes: AtomicU64,
}

impl Count {
    fn fields(&self) -> [&AtomicU64; 4] {
        [&self.begun, &self.ended, &self.packets, &self.bytes]
    }
}

/// The loads of some servers.
#[derive(Debug)]
pub(crate) struct Loads {
    /// By worker, in memory of its own each.
    counts: Vec<Box<[Count]>>,
    cpu: Box<[AtomicU64]>,
}

/// Adds where no other worker does.
fn add(count: &AtomicU64, more: u64) {
    count.store(count.load(Relaxed).wrapping_add(more), Relaxed);
}

impl Loads {
    /// Of so many servers, charged by so many workers.
    pub(crate) fn new(servers: usize, workers: usize) -> Loads {
        let counts = || (0..servers).map(|_| Count::default()).collect();
        Loads {
            counts: (0..workers.max(1)).map(|_| counts()).collect(),
            cpu: (0..servers).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Goes on with what another configuration's loads say: of a worker's place and a server here, and there.
    pub(crate) fn adopt(&self, (place, server): (usize, usize), old: &Loads, from: (usize, usize)) {
        let (count, former) = (&self.counts[place][server], &old.counts[from.0][from.1]);
        for (field, value) in count.fields().into_iter().zip(former.fields()) {
            add(field, value.load(Relaxed));
        }
        self.cpu[server].store(old.cpu[from.1].load(Relaxed), Relaxed);
    }

    /// Counts a packet that a server gets from the worker at this place.
    #[inline]
    pub(crate) fn charge(&self, place: usize, server: usize, packet: &Packet) {
        let count = &self.counts[place][server];
        add(&count.packets, 1);
        add(&count.bytes, packet.len() as u64);
        let flags = tcp_flags(packet);
        if flags & flag::SYN != 0 {
            add(&count.begun, 1);
        } else if flags & (flag::FIN | flag::RST) != 0 {
            add(&count.ended, 1);
        }
    }

    /// A server's load.
    pub(crate) fn of(&self, metric: Metric, server: usize) -> u64 {
        let sum = |field: fn(&Count) -> &AtomicU64| -> u64 {
            self.counts.iter().map(|counts| field(&counts[server]).load(Relaxed)).sum()
        };
        match metric {
            // A connection may end by a FIN and a RST.
            Metric::Connections => sum(|count| &count.begun).saturating_sub(sum(|count| &count.ended)),
            Metric::Packets => sum(|count| &count.packets),
            Metric::Bytes => sum(|count| &count.bytes),
            Metric::Cpu => self.cpu[server].load(Relaxed),
        }
    }

    /// The loads of all servers, one behind the other.
    pub(crate) fn list(&self, metric: Metric) -> String {
        let loads = (0..self.cpu.len()).map(|server| self.of(metric, server).to_string());
        loads.collect::<Vec<_>>().join(" ")
    }

    /// Says how busy servers are: `SERVER:LOAD`, separated by commas.
    ///
    /// # Errors
    /// Something else, or a server that there is not; then nothing changes.
    pub(crate) fn set_cpu(&self, text: &str) -> Result<(), String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        // All are read before one is set: what is refused changes nothing.
        let told: Vec<_> = parts.map(|part| self.told(part)).collect::<Result<_, _>>()?;
        told.into_iter().for_each(|(place, load)| place.store(load, Relaxed));
        Ok(())
    }

    /// Where the load of a server is kept, and what it shall be.
    fn told(&self, part: &str) -> Result<(&AtomicU64, u64), String> {
        let numbers = part.split_once(':').and_then(|(server, load)| {
            Some((server.trim().parse::<usize>().ok()?, load.trim().parse::<u64>().ok()?))
        });
        let (server, load) = numbers.ok_or_else(|| format!("expected 'SERVER:LOAD', not '{part}'"))?;
        let place = self.cpu.get(server).ok_or_else(|| format!("Invalid server id {server}"))?;
        Ok((place, load))
    }
}

/// The flags of a TCP packet; none of any other.
#[inline]
pub(crate) fn tcp_flags(packet: &Packet) -> u8 {
    const FLAGS_AT: usize = 13;
    let tcp = header(packet).is_some_and(|ip| ip.protocol() == ip_proto::TCP && ip.is_first_fragment());
    let transport = packet.transport().filter(|_| tcp);
    transport.and_then(|transport| transport.get(FLAGS_AT)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_loads() {
        let loads = Loads::new(3, 2);
        assert_eq!(loads.set_cpu("0:50, 2:7"), Ok(()));
        assert_eq!(loads.list(Metric::Cpu), "50 0 7");
        assert_eq!(loads.set_cpu("1:5,3:1"), Err("Invalid server id 3".to_owned()));
        assert_eq!(loads.list(Metric::Cpu), "50 0 7");
        assert!(loads.set_cpu("1").is_err());
    }
}
