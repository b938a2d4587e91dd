//! The limit that RatedUnqueue, RatedSplitter and their relatives for bandwidths share.

use super::rate::{Bandwidth, TokenBucket};
use router::{Args, Config, ConfigError, Cx, Handlers};
use std::any::Any;
use std::time::Duration;

/// A packet goes by bandwidth only while so many bytes are left, so that none overdraws.
const LEAST_BYTES: u32 = 131_072;
const DEFAULT_BURST: Duration = Duration::from_millis(20);

/// So many packets, or bytes, a second, and bursts of limited size.
pub struct RateLimit {
    bucket: TokenBucket,
    bytes: bool,
    burst: Burst,
}

/// The arguments RATE, BURST_DURATION and BURST_SIZE (of bytes: BURST_BYTES).
#[derive(Default)]
pub struct Arguments {
    bytes: bool,
    packets: u32,
    bandwidth: Bandwidth,
    duration: Option<Duration>,
    size: Option<u32>,
}

impl Arguments {
    /// Those of a limit of packets, or of bytes.
    pub fn new(bytes: bool) -> Arguments {
        Arguments { bytes, ..Arguments::default() }
    }

    /// Adds them to what is read.
    pub fn read<'s, 'v>(&'v mut self, args: Args<'s, 'v>) -> Args<'s, 'v> {
        let args = match self.bytes {
            true => args.required("RATE", &mut self.bandwidth),
            false => args.required("RATE", &mut self.packets),
        };
        args.keyword("BURST_DURATION", &mut self.duration)
            .keyword(if self.bytes { "BURST_BYTES" } else { "BURST_SIZE" }, &mut self.size)
    }
}

/// How much may go at once.
#[derive(Clone, Copy)]
enum Burst {
    Lasting(Duration),
    Units(u32),
}

impl RateLimit {
    /// The limit that the element's arguments describe, if it has no others.
    pub fn new(config: &mut Config<'_>, bytes: bool) -> Result<RateLimit, ConfigError> {
        let mut arguments = Arguments::new(bytes);
        arguments.read(config.args()).finish()?;
        RateLimit::of(arguments)
    }

    /// The limit that arguments describe.
    pub fn of(arguments: Arguments) -> Result<RateLimit, ConfigError> {
        let Arguments { bytes, packets, bandwidth, duration, size } = arguments;
        let burst = match (duration, size) {
            (Some(_), Some(_)) => return Err("cannot specify both BURST_DURATION and BURST_SIZE".into()),
            (_, Some(size)) => Burst::Units(size),
            (duration, None) => Burst::Lasting(duration.unwrap_or(DEFAULT_BURST)),
        };
        let mut limit = RateLimit { bucket: TokenBucket::default(), bytes, burst };
        let rate = if bytes { bandwidth.0 } else { packets };
        limit.bucket = TokenBucket::new(rate, limit.capacity(rate));
        Ok(limit)
    }

    /// Whether bytes are limited, not packets.
    pub fn counts_bytes(&self) -> bool {
        self.bytes
    }

    /// The bucket that it begins with.
    pub fn bucket(&self) -> TokenBucket {
        self.bucket.clone()
    }

    /// Goes on with the tokens of the limit that was there before.
    pub fn adopt(&mut self, old: &TokenBucket) {
        self.bucket.adopt(old);
    }

    fn capacity(&self, rate: u32) -> u32 {
        let units = match self.burst {
            Burst::Units(units) => units,
            Burst::Lasting(time) => {
                u32::try_from(u128::from(rate) * time.as_millis() / 1000).unwrap_or(u32::MAX)
            }
        };
        units.saturating_add(if self.bytes { LEAST_BYTES } else { 0 }).max(1)
    }

    /// Tokens that must be there for a packet to go.
    fn least(&self) -> u32 {
        if self.bytes { LEAST_BYTES } else { 1 }
    }

    /// Whether a packet may go now.
    #[inline]
    pub fn allows(&mut self, now_ns: i64) -> bool {
        self.bucket.refill(now_ns);
        self.bucket.contains(self.least())
    }

    /// Packets that may go at once: as many as there are tokens, where it is packets that are counted.
    pub fn at_once(&self, burst: usize) -> usize {
        if self.bytes { burst } else { burst.min(self.bucket.tokens() as usize) }
    }

    /// Records that a packet of this length went.
    #[inline]
    pub fn charge(&mut self, length: usize) {
        self.bucket.remove(if self.bytes { u32::try_from(length).unwrap_or(u32::MAX) } else { 1 });
    }

    /// When the next packet may go; `None` if never.
    pub fn next_ns(&self, now_ns: i64) -> Option<i64> {
        self.bucket.next_with_ns(now_ns, self.least())
    }

    /// Declares the handler `rate` of an element that has a limit, and that `config` says the same; `then` follows a change.
    pub fn handlers<E: Any>(h: &mut Handlers, of: fn(&mut E) -> &mut RateLimit, then: fn(&mut Cx<'_>)) {
        for name in ["rate", "config"] {
            h.read(name, move |e: &mut E, _| of(e).read());
        }
        h.write("rate", move |e: &mut E, cx, text| {
            of(e).write(cx, text)?;
            then(cx);
            Ok(())
        });
    }

    fn read(&self) -> String {
        match self.bytes {
            true => Bandwidth(self.bucket.rate()).to_string(),
            false => self.bucket.rate().to_string(),
        }
    }

    fn write(&mut self, cx: &Cx<'_>, text: &str) -> Result<(), String> {
        let rate = if self.bytes {
            router::keyword_value::<Bandwidth>(cx, "RATE", text)?.0
        } else {
            router::keyword_value(cx, "RATE", text)?
        };
        self.bucket.adjust(rate, self.capacity(rate));
        Ok(())
    }
}
