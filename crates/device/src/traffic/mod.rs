//! Traffic made up from a seed, or taken from a capture, as sets of frames.
//!
//! [`Traffic`] describes UDP over IPv4 and IPv6 in Ethernet frames: destinations, sizes, flows, and how many
//! packets are bad on purpose. The same description and seed give the same frames, byte by byte. What a frame is
//! meant to test is kept beside it ([`Kind`]); with `sequence`, each frame also carries its index in the set, so
//! that a checker finds the original of a packet it sees after forwarding ([`sequence_of`]).

mod emit;
mod error;
mod ethernet;
mod replay;
mod sequence;
mod sizes;

use std::ops::RangeInclusive;

use fastrand::Rng;

use self::emit::{Ipv4, Ipv6, Ports};
use crate::frames::{Builder, FrameSet, Kind};

pub use error::Error;
pub use ethernet::Ethernet;
pub use replay::{Replay, replay};
pub use sequence::sequence_of;
pub use sizes::Sizes;

/// The addresses of one IP version; `A` is `u32` or `u128` in host byte order.
#[derive(Debug, Clone, PartialEq)]
pub struct Addresses<A> {
    /// Destinations of packets that should be routed, drawn uniformly.
    pub destinations: Vec<A>,
    /// Destinations without a route, for [`Kind::NoRoute`].
    pub unrouted: Vec<A>,
    /// Source addresses, drawn uniformly.
    pub sources: RangeInclusive<A>,
    /// Source addresses of [`Kind::Martian`].
    pub martians: Vec<A>,
}

impl Default for Addresses<u32> {
    /// No destinations; sources from 198.18.0.0/15, set aside for measurements (RFC 2544, appendix C.2.2, and
    /// RFC 6890); martian sources 0.0.0.0 and 255.255.255.255.
    fn default() -> Addresses<u32> {
        Addresses {
            destinations: Vec::new(),
            unrouted: Vec::new(),
            sources: 0xc612_0001..=0xc613_fffe,
            martians: vec![0, u32::MAX],
        }
    }
}

impl Default for Addresses<u128> {
    /// No destinations; sources from 2001:2::/48, set aside for measurements (RFC 5180, section 8); martian sources
    /// `::` and ff02::1.
    fn default() -> Addresses<u128> {
        const BENCHMARKING: u128 = 0x2001_0002 << 96;
        Addresses {
            destinations: Vec::new(),
            unrouted: Vec::new(),
            sources: BENCHMARKING + 1..=BENCHMARKING + 0xffff_ffff,
            martians: vec![0, 0xff02 << 112 | 1],
        }
    }
}

/// Shares of packets that are bad on purpose, each from 0 to 1, together at most 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BadShares {
    /// Packets with a TTL or hop limit of 0 or 1.
    pub expired: f64,
    /// IPv4 packets whose header checksum is wrong. IPv6 has none, so these are always IPv4.
    pub checksum: f64,
    /// Packets from a martian source.
    pub martian: f64,
    /// Packets without a route.
    pub no_route: f64,
}

/// A description of traffic; [`Traffic::build`] makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// What all random choices follow from.
    pub seed: u64,
    /// Number of frames.
    pub frames: usize,
    /// IPv4 addresses.
    pub ipv4: Addresses<u32>,
    /// IPv6 addresses.
    pub ipv6: Addresses<u128>,
    /// Share of IPv6 packets, from 0 to 1. Where only one version has addresses that fit, it gets all packets.
    pub ipv6_share: f64,
    /// Sizes of the frames.
    pub sizes: Sizes,
    /// Ethernet addresses.
    pub ethernet: Ethernet,
    /// UDP source ports, drawn uniformly: with the addresses they make the flows.
    pub source_ports: RangeInclusive<u16>,
    /// UDP destination ports, drawn uniformly.
    pub destination_ports: RangeInclusive<u16>,
    /// TTL or hop limit of packets that are not meant to expire.
    pub hops: u8,
    /// Whether IPv4 packets have a UDP checksum; over IPv6 they must.
    pub ipv4_udp_checksum: bool,
    /// Packets that are bad on purpose.
    pub bad: BadShares,
    /// Whether each frame carries its index.
    pub sequence: bool,
}

impl Default for Traffic {
    /// 4,096 good frames of 64 bytes from many flows, half of them IPv6 if there are destinations for both.
    fn default() -> Traffic {
        Traffic {
            seed: 1,
            frames: 4096,
            ipv4: Addresses::<u32>::default(),
            ipv6: Addresses::<u128>::default(),
            ipv6_share: 0.5,
            sizes: Sizes::Fixed(64),
            ethernet: Ethernet::default(),
            source_ports: 1024..=65535,
            destination_ports: 1024..=65535,
            hops: 64,
            ipv4_udp_checksum: true,
            bad: BadShares::default(),
            sequence: false,
        }
    }
}

impl Traffic {
    /// Makes the frames.
    ///
    /// # Errors
    /// The description contradicts itself or asks for addresses it does not give; see [`Error`].
    pub fn build(&self) -> Result<FrameSet, Error> {
        self.check()?;
        let picker = self.sizes.picker()?;
        let mut rng = Rng::with_seed(self.seed);
        let mut frames = Builder::new();
        for index in 0..self.frames {
            let index = u32::try_from(index).map_err(|_| Error::TooLarge)?;
            let kind = self.kind(&mut rng);
            let length = picker.pick(&mut rng);
            let ports = Ports {
                source: rng.u16(self.source_ports.clone()),
                destination: rng.u16(self.destination_ports.clone()),
            };
            let sequence = self.sequence.then_some(index);
            let pushed = if self.is_ipv6(kind, &mut rng) {
                let ip = self.ipv6_header(kind, &mut rng);
                frames.push_with(kind, |out| emit::ipv6(out, self.ethernet, &ip, ports, length, sequence))
            } else {
                let ip = self.ipv4_header(kind, index, &mut rng);
                frames.push_with(kind, |out| emit::ipv4(out, self.ethernet, &ip, ports, length, sequence))
            };
            pushed.map_err(|_| Error::TooLarge)?;
        }
        Ok(frames.build())
    }

    fn kind(&self, rng: &mut Rng) -> Kind {
        let mut left = rng.f64();
        for (kind, share) in self.bad.shares() {
            if left < share {
                return kind;
            }
            left -= share;
        }
        Kind::Good
    }

    fn is_ipv6(&self, kind: Kind, rng: &mut Rng) -> bool {
        let wanted = rng.f64() < self.ipv6_share;
        match (self.ipv4.serves(kind), self.ipv6.serves(kind) && kind != Kind::BadChecksum) {
            (true, true) => wanted,
            (_, only_ipv6) => only_ipv6,
        }
    }

    fn ipv4_header(&self, kind: Kind, index: u32, rng: &mut Rng) -> Ipv4 {
        let (source, destination) = self.ipv4.pick(kind, rng, |rng, range| rng.u32(range));
        let checksum_error = match kind {
            // Neither 0 nor 0xffff, which would leave a checksum of 0 valid.
            Kind::BadChecksum => rng.u16(1..0xffff),
            _ => 0,
        };
        Ipv4 {
            source,
            destination,
            // The lower bits are as good as any.
            id: index as u16,
            ttl: self.hops(kind, rng),
            checksum_error,
            udp_checksum: self.ipv4_udp_checksum,
        }
    }

    fn ipv6_header(&self, kind: Kind, rng: &mut Rng) -> Ipv6 {
        let (source, destination) = self.ipv6.pick(kind, rng, |rng, range| rng.u128(range));
        Ipv6 { source, destination, hop_limit: self.hops(kind, rng) }
    }

    fn hops(&self, kind: Kind, rng: &mut Rng) -> u8 {
        if kind == Kind::Expired { rng.u8(0..=1) } else { self.hops }
    }

    fn check(&self) -> Result<(), Error> {
        let shares = self.bad.shares().map(|(_, share)| share);
        let valid = |share: &f64| (0.0..=1.0).contains(share);
        if !valid(&self.ipv6_share) || !shares.iter().all(valid) || shares.iter().sum::<f64>() > 1.0 + 1e-9 {
            return Err(Error::Share);
        }
        if self.hops < 2 {
            return Err(Error::Hops);
        }
        if self.ipv4.sources.is_empty()
            || self.ipv6.sources.is_empty()
            || self.source_ports.is_empty()
            || self.destination_ports.is_empty()
        {
            return Err(Error::EmptyRange);
        }
        let good_share = 1.0 - shares.iter().sum::<f64>();
        let kinds = self.bad.shares().into_iter().chain([(Kind::Good, good_share)]);
        for (kind, _) in kinds.filter(|(_, share)| *share > 0.0 && self.frames > 0) {
            if !self.ipv4.serves(kind) && (kind == Kind::BadChecksum || !self.ipv6.serves(kind)) {
                return Err(Error::NoAddresses { kind });
            }
        }
        Ok(())
    }
}

impl BadShares {
    fn shares(self) -> [(Kind, f64); 4] {
        [
            (Kind::Expired, self.expired),
            (Kind::BadChecksum, self.checksum),
            (Kind::Martian, self.martian),
            (Kind::NoRoute, self.no_route),
        ]
    }
}

impl<A: Copy> Addresses<A> {
    /// Whether there are addresses for a packet of this kind.
    fn serves(&self, kind: Kind) -> bool {
        match kind {
            Kind::NoRoute => !self.unrouted.is_empty(),
            Kind::Martian => !self.destinations.is_empty() && !self.martians.is_empty(),
            _ => !self.destinations.is_empty(),
        }
    }

    /// Source and destination of a packet of this kind, which these addresses serve.
    fn pick(&self, kind: Kind, rng: &mut Rng, draw: impl Fn(&mut Rng, RangeInclusive<A>) -> A) -> (A, A) {
        let destinations = if kind == Kind::NoRoute { &self.unrouted } else { &self.destinations };
        let destination = destinations[rng.usize(..destinations.len())];
        let source = match kind {
            Kind::Martian => self.martians[rng.usize(..self.martians.len())],
            _ => draw(rng, self.sources.clone()),
        };
        (source, destination)
    }
}
