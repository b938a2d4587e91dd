//! The routes: the Internet table that comes with the program, with next hops by a stated rule.

use indicatif::{ProgressBar, ProgressStyle};
use lpm::import::{self, List};
use lpm::{Key, Naive, Prefix};
use router::{Call, Router};
use std::fmt::Display;
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::time::{Duration, Instant};

/// The shipped table; see `data/README.md` for its origin and licence.
const SHIPPED: &[u8] = include_bytes!("../../../../data/internet-prefixes.txt.xz");
/// Output ports that the routes use.
pub(super) const PORTS: u32 = 4;
/// Gateways behind each port.
const GATEWAYS: u32 = 64;

/// Where a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) port: u32,
    gateway: u32,
}

impl Hop {
    /// The rule, since the table has no next hops: a mixed hash of prefix and length chooses one of 4 ports and one of the
    /// 64 gateways behind it. `turn` 1 is the other route that the changes switch to.
    pub(super) fn of(address: u128, len: u8, turn: u32) -> Hop {
        let mut x = (address ^ (address >> 64)) as u64 ^ (u64::from(len) << 56);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let hash = (x >> 32) as u32;
        Hop { port: (hash % PORTS + turn) % PORTS, gateway: hash / PORTS % GATEWAYS + 2 }
    }

    pub(super) fn id(self) -> u32 {
        self.port
    }

    pub(super) fn v4(self) -> String {
        format!("198.18.{}.{} {}", self.port, self.gateway, self.port)
    }

    pub(super) fn v6(self) -> String {
        format!("2001:2::{:x}:{:x} {}", self.port + 1, self.gateway, self.port)
    }
}

/// All routes, and what was needed to get them.
pub(super) struct Table {
    pub(super) v4: Vec<Prefix<u32>>,
    pub(super) v6: Vec<Prefix<u128>>,
    pub(super) naive4: Naive<u32>,
    pub(super) naive6: Naive<u128>,
    reading: Duration,
}

impl Table {
    /// Reads the shipped table or another one.
    pub(super) fn load(file: Option<&Path>, progress: bool) -> Result<Table, String> {
        let start = Instant::now();
        let bar = if progress { bar() } else { ProgressBar::hidden() };
        let list = read(file, &bar)?;
        bar.finish_and_clear();
        let reading = start.elapsed();
        let v4: Vec<_> = list.v4.into_iter().map(|(prefix, _)| prefix).collect();
        let v6: Vec<_> = list.v6.into_iter().map(|(prefix, _)| prefix).collect();
        let mut table = Table { naive4: Naive::new(), naive6: Naive::new(), v4, v6, reading };
        for &prefix in &table.v4 {
            table.naive4.insert(prefix, Hop::of(u128::from(prefix.addr()), prefix.len(), 0).id());
        }
        for &prefix in &table.v6 {
            table.naive6.insert(prefix, Hop::of(prefix.addr(), prefix.len(), 0).id());
        }
        // The routes that the configuration itself has: the hosts that send the traffic.
        let hosts = ("198.18.0.0/15".parse(), "2001:2::/48".parse());
        if let (Ok(hosts4), Ok(hosts6)) = hosts {
            table.naive4.insert(hosts4, 0);
            table.naive6.insert(hosts6, 0);
        }
        Ok(table)
    }

    /// Puts all routes into the router's tables, through their `load` handlers.
    pub(super) fn install(&self, router: &mut Router) -> Result<(), String> {
        let folder = std::env::temp_dir().join(format!("clique-demo-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let result = self.install_from(router, &folder);
        // Left-overs in a temporary folder are no reason to fail.
        let _ = std::fs::remove_dir_all(&folder);
        result
    }

    fn install_from(&self, router: &mut Router, folder: &Path) -> Result<(), String> {
        let v4 = self.v4.iter().map(|p| route4(*p, 0));
        let v6 = self.v6.iter().map(|p| route6(*p, 0));
        for (element, file, routes) in [
            ("routes4", folder.join("routes4.txt"), Box::new(v4) as Box<dyn Iterator<Item = String>>),
            ("routes6", folder.join("routes6.txt"), Box::new(v6)),
        ] {
            write_lines(&file, routes).map_err(|e| format!("{}: {e}", file.display()))?;
            router.call(Call::write(format!("{element}.load"), file.display().to_string()))?;
        }
        Ok(())
    }

    /// One line about the table.
    pub(super) fn summary(&self, installed: Duration) -> String {
        format!(
            "{} IPv4 and {} IPv6 prefixes: read in {:.2} s, routed in {:.2} s",
            self.v4.len(),
            self.v6.len(),
            self.reading.as_secs_f64(),
            installed.as_secs_f64()
        )
    }
}

/// A route in the form that handlers take, with the hop of a turn.
pub(super) fn route4(prefix: Prefix<u32>, turn: u32) -> String {
    let hop = Hop::of(u128::from(prefix.addr()), prefix.len(), turn);
    format!("{}/{} {}", Ipv4Addr::from(prefix.addr()), prefix.len(), hop.v4())
}

/// The same for IPv6.
pub(super) fn route6(prefix: Prefix<u128>, turn: u32) -> String {
    let hop = Hop::of(prefix.addr(), prefix.len(), turn);
    format!("{}/{} {}", Ipv6Addr::from(prefix.addr()), prefix.len(), hop.v6())
}

fn write_lines(file: &Path, lines: impl Iterator<Item = impl Display>) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
    for line in lines {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("reading routes {bar:40} {bytes}/{total_bytes} {elapsed}");
    let bar = ProgressBar::new(0);
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

fn read(file: Option<&Path>, bar: &ProgressBar) -> Result<List, String> {
    let owned;
    let (bytes, name) = match file {
        None => (SHIPPED, "the shipped table".to_owned()),
        Some(file) => {
            owned = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
            (&owned[..], file.display().to_string())
        }
    };
    bar.set_length(bytes.len() as u64);
    import::read(bar.wrap_read(bytes), import::Options::default()).map_err(|e| format!("{name}: {e}"))
}

/// Every prefix that contains an address, longest first, with its hop's id.
pub(super) fn covering<K: Key>(naive: &Naive<K>, address: K) -> impl Iterator<Item = (Prefix<K>, u32)> + '_ {
    (0..=K::BITS as u8).rev().filter_map(move |len| {
        let prefix = Prefix::new(address, len).ok()?;
        naive.get(prefix).map(|id| (prefix, id))
    })
}
