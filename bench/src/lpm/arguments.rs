//! What may be asked for.

use std::path::PathBuf;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Rounds; the median counts.
    #[arg(long, default_value_t = 15)]
    pub(super) rounds: usize,
    /// Different next hops.
    #[arg(long, default_value_t = 256)]
    pub(super) next_hops: u32,
    /// The routes: a list of prefixes, packed or not.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/internet-prefixes.txt.xz"))]
    pub(super) routes: PathBuf,
    /// Also DPDK's rte_fib and rte_fib6, for which dpdk-dev and a C compiler must be installed.
    #[arg(long)]
    pub(super) dpdk: bool,
    /// Also the tables of the crates prefix-trie and ip_network_table, and BART's where go is installed.
    #[arg(long)]
    pub(super) peers: bool,
    /// BGP updates in MRT files, to be replayed over the routes.
    #[arg(long, value_name = "FILE")]
    pub(super) updates: Vec<PathBuf>,
    /// Count instructions a lookup too, with valgrind's callgrind (which knows no AVX-512).
    #[arg(long)]
    pub(super) instructions: bool,
    /// Only this part.
    #[arg(long, value_parser = ["lookups", "changes", "load"])]
    pub(super) only: Option<String>,
    /// The lookups that callgrind counts.
    #[arg(long, hide = true)]
    pub(super) count: bool,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// Everything once, with few routes and lookups.
    #[arg(long)]
    pub(super) tiny: bool,
}

impl Arguments {
    pub(super) fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }
}
