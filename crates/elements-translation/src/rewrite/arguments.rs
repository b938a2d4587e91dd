//! Arguments that rewriters have in common, and some that only some of them have.

use super::endpoints::Filtering;
use super::input::Spec;
use super::mapper;
use super::nat::{Capacity, Kind, Nat, Plan};
use super::nat64::Prefix;
use super::policy::{Policy, Timeouts};
use crate::quota::Limit;
use elements_shared::state_port::Port;
use packet::Anno;
use router::{AnnoOf, Args, Config, ConfigError, Raw, parse_integer};
use std::sync::Arc;
use std::time::Duration;

/// The classes of rewriters: whom a capacity can be shared with.
pub(super) const REWRITERS: &[&str] =
    &["IPRewriter", "TCPRewriter", "UDPRewriter", "ICMPPingRewriter", "IPAddrRewriter", "IPAddrPairRewriter"];

/// The annotations that rewriters set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Annotations {
    /// Whether the destination annotation follows the destination address.
    pub(super) dst: bool,
    /// The annotation that packets of the reply direction get from the flow's first packet.
    pub(super) reply: Option<Anno>,
}

/// All of these arguments; each class reads those that it has.
#[derive(Default)]
pub(super) struct RewriterArgs {
    mapping_capacity: Option<Raw>,
    capacity: Option<Raw>,
    quota: Limit,
    timeout: Option<Duration>,
    guarantee: Option<Duration>,
    reap_interval: Option<Duration>,
    reap_time: Option<Duration>,
    dst_anno: Option<bool>,
    reply_anno: Option<AnnoOf<1>>,
    tcp_timeout: Option<Duration>,
    tcp_done_timeout: Option<Duration>,
    tcp_nodata_timeout: Option<Duration>,
    tcp_guarantee: Option<Duration>,
    udp_timeout: Option<Duration>,
    udp_streaming_timeout: Option<Duration>,
    streaming_timeout: Option<Duration>,
    udp_guarantee: Option<Duration>,
    mapping: Option<Raw>,
    filtering: Option<Raw>,
    icmp_timeout: Option<Duration>,
    unmapped: Option<u16>,
    // FastClick's.
    use_cache: bool,
    set_aggregate: bool,
    handle_migration: bool,
    specs: Vec<String>,
}

/// Whole seconds, as Click counts them, in milliseconds.
fn ms(time: Option<Duration>, default_s: u64) -> u64 {
    let seconds = time.map_or(default_s, |time| time.as_secs() + u64::from(time.subsec_millis() >= 500));
    seconds.saturating_mul(1000)
}

const DEFAULT_GUARANTEE_S: u64 = 5;
const DEFAULT_REAP_S: u64 = 15 * 60;

impl RewriterArgs {
    fn read<'s, 'v>(&'v mut self, kind: Kind, args: Args<'s, 'v>) -> Args<'s, 'v> {
        let mut args = self
            .quota
            .read(args, [kind != Kind::Six, kind == Kind::Six])
            .keyword("MAPPING_CAPACITY", &mut self.mapping_capacity)
            .keyword("CAPACITY", &mut self.capacity)
            .keyword("TIMEOUT", &mut self.timeout)
            .keyword("GUARANTEE", &mut self.guarantee)
            .keyword("REAP_INTERVAL", &mut self.reap_interval)
            .keyword("REAP_TIME", &mut self.reap_time)
            .keyword("REPLY_ANNO", &mut self.reply_anno)
            .keyword("USE_CACHE", &mut self.use_cache)
            .keyword("SET_AGGREGATE", &mut self.set_aggregate)
            .keyword("HANDLE_MIGRATION", &mut self.handle_migration);
        if !matches!(kind, Kind::Addr | Kind::Pair | Kind::Six) {
            args = args.keyword("DST_ANNO", &mut self.dst_anno).keyword("MAPPING", &mut self.mapping);
        }
        if matches!(kind, Kind::Ip | Kind::Tcp | Kind::Six) {
            args = args
                .keyword("TCP_TIMEOUT", &mut self.tcp_timeout)
                .keyword("TCP_DONE_TIMEOUT", &mut self.tcp_done_timeout)
                .keyword("TCP_NODATA_TIMEOUT", &mut self.tcp_nodata_timeout)
                .keyword("TCP_GUARANTEE", &mut self.tcp_guarantee);
        }
        if matches!(kind, Kind::Ip | Kind::Udp | Kind::Six) {
            args = args
                .keyword("UDP_TIMEOUT", &mut self.udp_timeout)
                .keyword("UDP_STREAMING_TIMEOUT", &mut self.udp_streaming_timeout)
                .keyword("UDP_GUARANTEE", &mut self.udp_guarantee);
        }
        if matches!(kind, Kind::Ip | Kind::Tcp | Kind::Udp | Kind::Six) {
            args = args.keyword("FILTERING", &mut self.filtering);
        }
        if kind != Kind::Six {
            args = args.keyword("UNMAPPED", &mut self.unmapped);
        }
        if kind == Kind::Udp {
            args = args.keyword("STREAMING_TIMEOUT", &mut self.streaming_timeout);
        }
        if kind == Kind::Six {
            args = args.keyword("ICMP_TIMEOUT", &mut self.icmp_timeout);
        }
        args.rest(&mut self.specs)
    }

    /// How long flows stay: those of TCP or all, those of UDP maps, and those of echoes.
    fn policies(&self, kind: Kind) -> [Policy; 3] {
        let plain = |default_s| Policy {
            guarantee_ms: ms(self.guarantee, DEFAULT_GUARANTEE_S),
            timeouts: Timeouts::Plain(ms(self.timeout, default_s)),
        };
        let tcp = Policy {
            guarantee_ms: ms(self.guarantee.or(self.tcp_guarantee), DEFAULT_GUARANTEE_S),
            timeouts: Timeouts::Tcp {
                nodata: ms(self.tcp_nodata_timeout, 300),
                data: ms(self.tcp_timeout.or(self.timeout), 86_400),
                done: ms(self.tcp_done_timeout, 240),
            },
        };
        let udp = |few: Option<Duration>, streaming: Option<Duration>, guarantee: Option<Duration>| Policy {
            guarantee_ms: ms(guarantee, DEFAULT_GUARANTEE_S),
            timeouts: Timeouts::Udp { few: ms(few, 300), streaming: ms(streaming.or(few), 300) },
        };
        match kind {
            Kind::Ip | Kind::Six => {
                let udp = udp(self.udp_timeout, self.udp_streaming_timeout, self.udp_guarantee);
                let timeouts = Timeouts::Plain(ms(self.icmp_timeout, 60));
                [tcp, udp, Policy { guarantee_ms: udp.guarantee_ms, timeouts }]
            }
            Kind::Tcp => [tcp; 3],
            Kind::Udp => {
                let streaming = self.streaming_timeout.or(self.udp_streaming_timeout);
                [udp(self.timeout.or(self.udp_timeout), streaming, self.guarantee.or(self.udp_guarantee)); 3]
            }
            Kind::Ping => [plain(300); 3],
            Kind::Addr | Kind::Pair => [plain(7200); 3],
        }
    }

    fn capacity(&self, config: &Config<'_>) -> Result<Capacity, ConfigError> {
        self.quota.check()?;
        let Some(Raw(text)) = self.mapping_capacity.as_ref().or(self.capacity.as_ref()) else {
            return Ok(Capacity::Own(super::flow_set::FLOWS_MAX));
        };
        if let Some(number) = parse_integer(text) {
            return i32::try_from(number).map(Capacity::Own).map_err(|_| "bad MAPPING_CAPACITY".into());
        }
        if self.quota.is_some() {
            return Err("QUOTA: say it to the element that the capacity is shared with".into());
        }
        let peer = config.find(text).filter(|&peer| REWRITERS.contains(&config.class_of(peer)));
        peer.map(Capacity::SharedWith).ok_or_else(|| "bad MAPPING_CAPACITY".into())
    }
}

/// What NAT64 has beside the arguments of all.
pub(super) struct Six {
    pub(super) nat: Arc<Nat>,
    pub(super) reap: Duration,
    /// Whether UDP packets without a checksum get one.
    pub(super) sums: bool,
}

/// Reads the arguments of a NAT64, and makes or finds its shared part.
///
/// # Errors
/// What is wrong with them.
pub(super) fn make_six(config: &mut Config<'_>) -> Result<Six, ConfigError> {
    let mut args = RewriterArgs::default();
    let (mut prefix, mut sums) = (None::<Raw>, true);
    let read = config.args().keyword("PREFIX", &mut prefix).keyword("UDP_ZERO_CHECKSUM", &mut sums);
    args.read(Kind::Six, read).finish()?;
    let prefix = prefix.map_or(Ok(Prefix::WELL_KNOWN), |Raw(text)| Prefix::parse(&text))?;
    let capacity = args.capacity(config)?;
    let filtering = args.filtering.as_ref().map_or("address-dependent", |Raw(text)| text);
    let filtering = Filtering::read(Some("endpoint-independent"), Some(filtering))?;
    let [spec] = &args.specs[..] else {
        return Err("need one argument: ADDRESS PORTS, a pattern's name, or a mapper".into());
    };
    let is_mapper = |element: usize| mapper::CLASSES.contains(&config.class_of(element));
    let text = match config.find(spec).filter(|&element| is_mapper(element)) {
        Some(_) => spec.clone(),
        None if lang::conf::split_spaces(spec).len() == 1 => format!("pattern {spec} 0 1"),
        None => format!("pattern {spec} - - 0 1"),
    };
    let spec = Spec::parse(&text, config.scope(), &is_mapper, config.outputs())?;
    let most = match capacity {
        Capacity::Own(most) => most,
        Capacity::SharedWith(_) => super::flow_set::FLOWS_MAX,
    };
    let plan = Plan {
        kind: Kind::Six,
        element: config.index(),
        outputs: config.outputs(),
        workers: config.workers().to_vec(),
        policies: args.policies(Kind::Six),
        specs: vec![spec, Spec::Drop],
        filtering,
        unmapped: None,
        capacity,
        quota: args.quota,
        seed: config.seed(),
        six: Some(super::nat64::Six::new(prefix, config.seed(), most)),
    };
    Ok(Six {
        nat: config.shared(|| Ok(Nat::new(plan)))?,
        reap: Duration::from_millis(ms(args.reap_interval.or(args.reap_time), DEFAULT_REAP_S)),
        sums,
    })
}

/// What a rewriter's instance knows of its arguments.
pub(super) struct Made {
    pub(super) nat: Arc<Nat>,
    pub(super) annotations: Annotations,
    pub(super) reap: Duration,
}

/// Reads the arguments of a rewriter, and makes or finds its shared part.
///
/// # Errors
/// What is wrong with them.
pub(super) fn make(kind: Kind, config: &mut Config<'_>) -> Result<Made, ConfigError> {
    let mut args = RewriterArgs::default();
    args.read(kind, config.args()).finish()?;
    if args.set_aggregate {
        config.warn("SET_AGGREGATE: no annotation is set; AggregateIPFlows in front numbers flows");
    }
    let capacity = args.capacity(config)?;
    let word = |raw: &Option<Raw>| raw.as_ref().map(|Raw(text)| text.clone());
    let filtering = Filtering::read(word(&args.mapping).as_deref(), word(&args.filtering).as_deref())?;
    if args.unmapped.is_some_and(|output| usize::from(output) >= config.outputs()) {
        return Err("bad UNMAPPED: no such output".into());
    }
    if args.specs.len() != config.inputs() {
        return Err(format!("need {} arguments, one per input port", config.inputs()).into());
    }
    let mut specs = Vec::new();
    let mut error = ConfigError::default();
    for (at, text) in args.specs.iter().enumerate() {
        let classify = |element: usize| mapper::CLASSES.contains(&config.class_of(element));
        match Spec::parse(text, config.scope(), &classify, config.outputs()) {
            Ok(spec) => specs.push(spec),
            Err(message) => error.messages.push(format!("input spec {at}: {message}")),
        }
    }
    if !error.messages.is_empty() {
        return Err(error);
    }
    let plan = Plan {
        kind,
        element: config.index(),
        outputs: config.outputs(),
        workers: config.workers().to_vec(),
        policies: args.policies(kind),
        specs,
        filtering,
        unmapped: args.unmapped,
        capacity,
        quota: args.quota,
        seed: config.seed(),
        six: None,
    };
    let nat = config.shared(|| Ok(Nat::new(plan)))?;
    Port::offer(config, nat.clone())?;
    Ok(Made {
        nat,
        annotations: Annotations {
            dst: args.dst_anno.unwrap_or(true),
            reply: args.reply_anno.map(|AnnoOf(anno)| anno),
        },
        reap: Duration::from_millis(ms(args.reap_interval.or(args.reap_time), DEFAULT_REAP_S)),
    })
}
