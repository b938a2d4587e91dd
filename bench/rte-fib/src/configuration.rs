//! The configuration: a path for each contender, equal but for the lookup element.

/// What takes turns with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contender {
    /// What reports call it.
    pub(crate) name: String,
    pub(crate) table: Table,
}

/// What a path has between the check of headers and the sinks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// A lookup element of the product.
    Own(String),
    /// DPDK's, with room for so many routes. Both ways to look up share one path.
    RteFib { routes: usize, avx512: bool },
    /// An element that asks no table.
    None { next_hops: u32 },
    /// Nothing at all.
    Direct,
}

impl Contender {
    /// A lookup element of the product.
    pub(crate) fn own(class: &str) -> Contender {
        Contender { name: class.to_owned(), table: Table::Own(class.to_owned()) }
    }

    /// What the names of its path's elements begin with.
    pub(crate) fn path(&self) -> String {
        match &self.table {
            Table::Own(class) => class.to_lowercase(),
            Table::RteFib { .. } => "fib".to_owned(),
            Table::None { .. } => "none".to_owned(),
            Table::Direct => "direct".to_owned(),
        }
    }

    /// Whether there are routes to load, and answers to compare.
    pub(crate) fn looks_up(&self) -> bool {
        matches!(self.table, Table::Own(_) | Table::RteFib { .. })
    }

    /// The path: `PATH_source`, `PATH`, `PATH_sink`.
    fn text(&self, outputs: u32) -> String {
        let path = self.path();
        let element = match &self.table {
            Table::Own(class) => class.clone(),
            Table::RteFib { routes, .. } => format!("RteFibLookup(ROUTES {})", (routes + 1).max(1024)),
            Table::None { next_hops } => format!("NoLookup({next_hops})"),
            Table::Direct => {
                return format!("{path}_source :: RingSource -> CheckIPHeader -> {path}_sink :: Sink;\n");
            }
        };
        let sinks = (0..outputs).map(|output| format!("{path}[{output}] -> [{output}]{path}_sink;\n"));
        format!(
            "{path}_source :: RingSource -> CheckIPHeader -> {path} :: {element};\n{path}_sink :: Sink;\n{}",
            sinks.collect::<String>()
        )
    }
}

/// The configuration with all paths.
pub(crate) fn text(contenders: &[Contender], outputs: u32) -> String {
    let mut paths: Vec<String> = contenders.iter().map(|contender| contender.text(outputs)).collect();
    // Of those that share a path, the first has it.
    paths.dedup();
    paths.concat()
}
