//! What may be said about the choice of ways.

/// How the way is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Always straight. For comparison: it needs links as fast as the external ones.
    Straight,
    /// By way of a random node.
    Valiant,
    /// Straight up to R/N for each egress, the rest by way of the others.
    Direct,
}

/// What is done about order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderPolicy {
    /// Nothing: each packet goes its own way.
    None,
    /// A flow always takes the same way, whatever the load; no state.
    Pinned,
    /// A flow keeps its way as long as its packets follow each other closely and the link has room. In a mesh a flow whose link
    /// has too much waiting moves as a whole; while no other link has less, packet by packet other ways are taken. In a fly they are
    /// as soon as a little waits.
    Flowlet,
    /// A flow keeps its way while anything of it may still be under way, even if the link is full.
    Quiet,
    /// Each packet goes its own way and is numbered; the egress puts them in order (see [`crate::resequence`]).
    Sequence,
}

/// How a node chooses.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the way is chosen.
    pub scheme: Scheme,
    /// What is done about order.
    pub order: OrderPolicy,
    /// What comes in at the external ports of a node, in bits a second: R, or sR with s ports.
    pub line_rate: u64,
    /// What a link carries, in bits a second.
    pub link_rate: u64,
    /// A link is not chosen where more than this would wait.
    pub comfortable_bytes: u32,
    /// Nothing is sent into a link where more than this would wait.
    pub bound_bytes: u32,
    /// How far the straight share may be ahead of R/N: usually by what a link carries in a tenth of a millisecond, so that a burst
    /// of a flow that is far below its share stays on its way.
    pub direct_burst_bytes: u32,
    /// Packets of a flow that follow each other within this time belong to one flowlet.
    pub flowlet_gap_ns: u64,
    /// Longest time that a packet can be under way, for [`OrderPolicy::Quiet`].
    pub transit_max_ns: u64,
    /// Flows are told apart by so many bits of their hash.
    pub flow_bits: u32,
    /// The seed of all chance.
    pub seed: u64,
}

impl Settings {
    /// What is usual for nodes that receive `line_rate` bits a second and have links of `link_rate`.
    pub fn new(line_rate: u64, link_rate: u64) -> Settings {
        Settings {
            scheme: Scheme::Direct,
            order: OrderPolicy::Flowlet,
            line_rate,
            link_rate,
            comfortable_bytes: 24 << 10,
            bound_bytes: 256 << 10,
            direct_burst_bytes: (link_rate / 8 / 10_000).clamp(24 << 10, 128 << 10) as u32,
            flowlet_gap_ns: 100_000_000,
            transit_max_ns: 10_000_000,
            flow_bits: 16,
            seed: 1,
        }
    }
}
