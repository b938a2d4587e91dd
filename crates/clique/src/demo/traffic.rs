//! The traffic: UDP to real destinations, some of it bad on purpose, or a capture.

use super::Args;
use super::table::Table;
use device::capture::Reader;
use device::frames::FrameSet;
use device::traffic::{Addresses, BadShares, Sizes, Traffic, replay};
use fastrand::Rng;
use lpm::{Key, Naive, Prefix};

/// Bytes of a captured frame set, at most.
const CAPTURE_BYTES_MAX: usize = 256 << 20;
/// Destinations without a route that are looked for.
const UNROUTED: usize = 256;

/// Sizes of packets.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum Size {
    /// All frames have 64 bytes.
    #[value(name = "64")]
    Smallest,
    /// 64, 594 and 1518 bytes in the ratio 7:4:1.
    Imix,
    /// All frames have 1518 bytes.
    #[value(name = "1518")]
    Largest,
}

/// The frames to replay.
pub(super) fn frames(args: &Args, table: &Table) -> Result<FrameSet, String> {
    if let Some(file) = &args.pcap {
        let mut reader = Reader::open(&file.to_string_lossy()).map_err(|e| e.to_string())?;
        let replay = replay(&mut reader, args.frames, CAPTURE_BYTES_MAX, None);
        return match (replay.error, replay.frames.is_empty()) {
            (Some(error), _) => Err(error.to_string()),
            (None, true) => Err(format!("{}: no frames", file.display())),
            (None, false) => Ok(replay.frames),
        };
    }
    let mut rng = Rng::with_seed(args.seed);
    let traffic = Traffic {
        seed: args.seed,
        frames: args.frames.max(1),
        ipv4: Addresses {
            destinations: destinations(
                &table.v4,
                args.frames,
                |prefix, rng| inside(prefix, rng.u128(..)),
                &mut rng,
            ),
            unrouted: unrouted(&table.naive4, || 0xf000_0000 | rng.u32(..0x1000_0000)),
            ..Addresses::default()
        },
        ipv6: Addresses {
            destinations: destinations(
                &table.v6,
                args.frames,
                |prefix, rng| inside(prefix, rng.u128(..)),
                &mut Rng::with_seed(args.seed + 1),
            ),
            unrouted: unrouted(&table.naive6, {
                let mut rng = Rng::with_seed(args.seed + 2);
                move || (0x3fff << 112) | (rng.u128(..) >> 16)
            }),
            ..Addresses::default()
        },
        ipv6_share: 0.25,
        sizes: match args.size {
            Size::Smallest => Sizes::Fixed(64),
            Size::Imix => Sizes::Imix,
            Size::Largest => Sizes::Fixed(1518),
        },
        bad: BadShares { expired: 0.01, checksum: 0.01, martian: 0.01, no_route: 0.01 },
        sequence: true,
        ..Traffic::default()
    };
    traffic.build().map_err(|e| e.to_string())
}

/// An address inside a prefix, the host part from random bits (addresses are left-aligned 128-bit numbers here).
fn inside<K: Key>(prefix: Prefix<K>, random: u128) -> K {
    let (first, last) = (prefix.addr().to_left(), prefix.last().to_left());
    K::from_left(first | (random & (last ^ first)))
}

/// As many addresses as frames, each inside a prefix drawn at random: as many destinations as a busy router sees.
fn destinations<K: Key>(
    prefixes: &[Prefix<K>],
    count: usize,
    inside: impl Fn(Prefix<K>, &mut Rng) -> K,
    rng: &mut Rng,
) -> Vec<K> {
    if prefixes.is_empty() {
        return Vec::new();
    }
    (0..count).map(|_| inside(prefixes[rng.usize(..prefixes.len())], rng)).collect()
}

/// Addresses that no prefix contains.
fn unrouted<K: Key>(naive: &Naive<K>, mut draw: impl FnMut() -> K) -> Vec<K> {
    (0..UNROUTED * 4)
        .map(|_| draw())
        .filter(|&address| naive.lookup(address).is_none())
        .take(UNROUTED)
        .collect()
}
