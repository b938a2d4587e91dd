//! What can be asked for.

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Runs of each of the costs.
    #[arg(long, default_value_t = 9)]
    pub(super) runs: usize,
    /// Seeds of each simulation of flowlets.
    #[arg(long, default_value_t = 9)]
    pub(super) seeds: u64,
    /// The most ports that are simulated.
    #[arg(long, default_value_t = 2_048)]
    pub(super) ports: usize,
    /// Only this part; may be repeated.
    #[arg(long, value_enum)]
    pub(super) only: Vec<Part>,
    /// Only this role of busy nodes.
    #[arg(long)]
    pub(super) role: Option<String>,
    /// Bursts of 32 packets of a run of a busy node.
    #[arg(long, default_value_t = 4_000)]
    pub(super) bursts: usize,
    /// One short run of each, to see that it works.
    #[arg(long)]
    pub(super) tiny: bool,
    /// Machine-readable output.
    #[arg(long)]
    pub(super) json: bool,
}

/// What is measured apart.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Part {
    Roles,
    Nodes,
    Workers,
    Orders,
    Flowlets,
    Scale,
    Rb4,
    Busy,
    Elephant,
}
