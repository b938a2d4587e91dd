//! What sources of many flows share: frames of random flows, each replaced by another after so many packets.

use super::burst::AT_ONCE;
use super::frame::{End, Ends, headers};
use super::pace::{self, Pace, Paced};
use packet::Batch;
use router::{Config, ConfigError, Cx, Element, Handlers, Pull, TableSize};
use wire::checksum::Sum;
use wire::ethernet::MacAddr;
use wire::{ip_proto, tcp, udp};

/// Packets that are pushed in a row, unless said otherwise.
const BURST: usize = 32;
/// A TCP flow begins with SYN, ends with FIN, and has something between.
const LEAST_TCP_FLOW: u32 = 3;
/// Flags of a TCP flow's first packet, those between, and the last.
const TCP_FLAGS: [u8; 3] = [0x02, 0x18, 0x01];

/// One flow.
struct Flow {
    /// Packets made of it.
    count: u32,
    /// The transport headers of its first packet, those between, and the last; UDP has one.
    headers: [[u8; tcp::HEADER_LEN]; 3],
}

/// The order of flows.
#[derive(Default)]
struct FlowSelection {
    /// One after the other, not at random.
    sequential: bool,
    /// Packets of a flow in a row; 0 is as good as 1.
    burst: u32,
    /// How many there were of the last flow.
    had: u32,
    last: usize,
    /// Of a sequence: the one after the last.
    next: usize,
}

impl FlowSelection {
    /// The flow of the next packet.
    fn next(&mut self, cx: &mut Cx<'_>, flows: usize) -> usize {
        if self.had > 0 && self.had < self.burst {
            self.had += 1;
            return self.last % flows;
        }
        self.had = 1;
        self.last = if self.sequential { self.next % flows } else { cx.rng().usize(..flows) };
        self.next = self.last + 1;
        self.last
    }
}

/// A source of flows.
pub(super) struct FlowSource {
    tcp: bool,
    /// The frame, but for its transport header.
    frame: Vec<u8>,
    ends: Ends,
    checksum: bool,
    flows: Vec<Flow>,
    flow_size: u32,
    selection: FlowSelection,
    pace: Pace,
    /// Whether the driver stops after the limit.
    stop: bool,
    macs: [MacAddr; 2],
    /// Whether every TCP flow has ended after the limit.
    ended: bool,
    /// Whether packets are pushed.
    push: bool,
    /// So many in a row.
    burst: usize,
}

/// Reads the arguments of a source of packets between addresses of a kind, which the arguments with these names say.
///
/// # Errors
/// What is wrong with them.
pub(super) fn create<A: End>(
    config: &mut Config<'_>,
    tcp: bool,
    names: [&'static str; 2],
) -> Result<Box<dyn Element>, ConfigError> {
    let (mut rate, mut limit, mut length) = (0u32, 0i32, 0u32);
    let (mut src_mac, mut dst_mac) = (MacAddr::default(), MacAddr::default());
    let (mut src, mut dst) = (A::NONE, A::NONE);
    let (mut flows, mut flow_size, mut checksum, mut active) = (TableSize(0), 0u32, true, true);
    let (mut stop, mut selection, mut duplicate, mut burst) = (false, FlowSelection::default(), false, BURST);
    let mut args = config
        .args()
        .required("RATE", &mut rate)
        .required("LIMIT", &mut limit)
        .required("LENGTH", &mut length)
        .required("SRCETH", &mut src_mac)
        .required(names[0], &mut src)
        .required("DSTETH", &mut dst_mac)
        .required(names[1], &mut dst)
        .required("FLOWS", &mut flows)
        .required("FLOWSIZE", &mut flow_size);
    if !tcp {
        args = args
            .positional("CHECKSUM", &mut checksum)
            .keyword("SEQUENTIAL", &mut selection.sequential)
            .keyword("FLOWBURST", &mut selection.burst)
            .keyword("DUPLICATE", &mut duplicate);
    }
    args.positional("ACTIVE", &mut active)
        .positional("STOP", &mut stop)
        .keyword("BURST", &mut burst)
        .finish()?;
    if burst == 0 {
        return Err("BURST must be >= 1".into());
    }
    let flow_size = packets_of_flow(config, tcp, flow_size);
    let ends = A::ends(src, dst);
    let length = ends.length(config, length)?;
    if flows.0 == 0 {
        return Err("FLOWS must be >= 1".into());
    }
    let mut e = FlowSource {
        tcp,
        frame: vec![0; length],
        ends,
        checksum,
        flows: Vec::new(),
        flow_size,
        selection,
        pace: Pace::new(rate, limit, active)?,
        stop,
        macs: [src_mac, dst_mac],
        ended: false,
        push: config.output_is_push(0),
        burst,
    };
    e.begin(flows.0, config.seed());
    Ok(Box::new(e))
}

/// How many packets a flow has that is to have so many: TCP's need some to begin and to end, which is warned of.
fn packets_of_flow(config: &mut Config<'_>, tcp: bool, wanted: u32) -> u32 {
    if tcp && wanted < LEAST_TCP_FLOW {
        config.warn("flow size < 3, defaulting to 3");
        return LEAST_TCP_FLOW;
    }
    wanted.max(1)
}

/// Small random numbers, for the flows that exist before there is a worker.
fn fastrand_from(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    // SplitMix64: each step is a new point of a Weyl sequence, mixed.
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl FlowSource {
    fn protocol(&self) -> u8 {
        if self.tcp { ip_proto::TCP } else { ip_proto::UDP }
    }

    /// Makes the frame, and so many flows.
    fn begin(&mut self, flows: usize, seed: u64) {
        self.fill_frame();
        let mut rng = fastrand_from(seed);
        self.flows = (0..flows).map(|_| self.random_flow(&mut rng)).collect();
    }

    fn fill_frame(&mut self) {
        let [src_mac, dst_mac] = self.macs;
        self.frame = headers(self.frame.len(), (src_mac, dst_mac), self.ends, self.protocol());
    }

    /// A new flow between random ports.
    fn random_flow(&self, random: &mut impl FnMut() -> u64) -> Flow {
        let mut port = || (random() % 0xffff) as u16;
        let ports = (port(), port());
        let headers = if self.tcp {
            TCP_FLAGS.map(|flags| self.tcp_header(ports, flags, random()))
        } else {
            [self.udp_header(ports); 3]
        };
        Flow { count: 0, headers }
    }

    fn tcp_header(&self, ports: (u16, u16), flags: u8, numbers: u64) -> [u8; tcp::HEADER_LEN] {
        let mut bytes = [0; tcp::HEADER_LEN];
        if let Ok(mut header) = tcp::Header::new_checked_mut(&mut bytes) {
            header.set_src_port(ports.0);
            header.set_dst_port(ports.1);
            header.set_sequence(numbers as u32);
            header.set_acknowledgement((numbers >> 32) as u32);
            header.set_header_len(tcp::HEADER_LEN);
            header.set_flags(flags);
            header.set_window(u16::MAX);
        }
        let checksum = self.transport_checksum(&bytes);
        bytes[16..18].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    fn udp_header(&self, ports: (u16, u16)) -> [u8; tcp::HEADER_LEN] {
        let mut bytes = [0; tcp::HEADER_LEN];
        if let Ok(mut header) = udp::Header::new_checked_mut(&mut bytes[..]) {
            header.set_src_port(ports.0);
            header.set_dst_port(ports.1);
            header.set_len(self.transport_len());
        }
        if self.checksum {
            let checksum = match self.transport_checksum(&bytes) {
                0 => 0xffff, // zero would mean "none"
                checksum => checksum,
            };
            bytes[6..8].copy_from_slice(&checksum.to_be_bytes());
        }
        bytes
    }

    /// The checksum of a segment with this header; its data is zeros, which change nothing.
    fn transport_checksum(&self, header: &[u8]) -> u16 {
        let pseudo_header = self.ends.pseudo_header(self.protocol(), self.transport_len());
        pseudo_header.add(Sum::of(header)).checksum()
    }

    fn transport_len(&self) -> u16 {
        (self.frame.len() - self.ends.transport_at()) as u16
    }

    /// Makes frames of another length, of other flows.
    fn set_length(&mut self, cx: &mut Cx<'_>, length: usize) -> Result<(), String> {
        let (least, most) = self.ends.lengths();
        let length = length.max(least as usize);
        if length > most {
            return Err("more than an IP packet can have".to_owned());
        }
        if length != self.frame.len() {
            self.frame = vec![0; length];
            self.fill_frame();
            self.flows = (0..self.flows.len()).map(|_| self.random_flow(&mut || cx.rng().u64(..))).collect();
        }
        Ok(())
    }

    /// Chooses the flow and the header of the next packet; `None` after the last.
    fn choose(&mut self, cx: &mut Cx<'_>) -> Option<(usize, usize)> {
        if self.pace.left() > 0 {
            let i = self.selection.next(cx, self.flows.len());
            if self.flows[i].count == self.flow_size {
                self.flows[i] = self.random_flow(&mut || cx.rng().u64(..));
            }
            let flow = &mut self.flows[i];
            flow.count += 1;
            let header = match flow.count {
                1 => 0,
                count if count == self.flow_size => 2,
                _ => 1,
            };
            return Some((i, header));
        }
        // After the limit, TCP flows that are open are closed.
        let open = self.flows.iter().position(|flow| flow.count != self.flow_size);
        let Some(i) = open.filter(|_| self.tcp) else {
            self.ended = true;
            if self.stop && self.tcp {
                cx.info().please_end();
            }
            return None;
        };
        self.flows[i].count = self.flow_size;
        Some((i, 2))
    }

    /// Up to so many packets, as far as the pace allows; if there are none, the puller sleeps until it does.
    fn make(&mut self, cx: &mut Cx<'_>, want: usize) -> Batch {
        let (due, mut batch) = (self.pace.due(cx), cx.batch());
        if self.pace.active && !self.ended && due > 0 {
            for _ in 0..want.min(due).min(packet::BATCH_MAX) {
                if !self.add_packet(cx, &mut batch) {
                    break;
                }
            }
            self.pace.spend(batch.len());
        } else if self.push {
            self.pace.wait(cx, due);
        } else {
            self.pace.rest(cx, due);
        }
        batch
    }

    fn add_packet(&mut self, cx: &mut Cx<'_>, batch: &mut Batch) -> bool {
        let Some((flow, header)) = self.choose(cx) else { return false };
        let header_len = if self.tcp { tcp::HEADER_LEN } else { udp::HEADER_LEN };
        let header = &self.flows[flow].headers[header][..header_len];
        let Some(mut packet) = cx.pool().packet(&self.frame) else { return false };
        packet.data_mut()[self.ends.transport_at()..][..header_len].copy_from_slice(header);
        self.ends.mark(&mut packet);
        batch.push(packet);
        self.pace.made_one(cx);
        if self.pace.left() == 0 && self.stop && !self.tcp {
            cx.info().please_end();
        }
        true
    }
}

impl Paced for FlowSource {
    fn pace(&mut self) -> &mut Pace {
        &mut self.pace
    }

    fn reset(&mut self, cx: &mut Cx<'_>) {
        self.pace.reset();
        self.ended = false;
        self.wake(cx);
    }

    fn limit_changed(&mut self) {
        self.ended = false;
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        if self.push { cx.tasks().schedule() } else { cx.signals().set(true) }
    }
}

impl Element for FlowSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.push {
            cx.signals().listen_room(0);
            cx.tasks().schedule();
        } else {
            cx.signals().provide();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if !cx.signals().has_room(0) {
            return; // room wakes the task
        }
        let mut left = self.burst.min(AT_ONCE);
        while left > 0 {
            let batch = self.make(cx, left.min(cx.vector()));
            if batch.is_empty() {
                return cx.emit(0, batch); // it gives the batch back
            }
            left -= batch.len();
            cx.emit(0, batch);
        }
        cx.tasks().schedule();
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Give(self.make(cx, want))
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        self.wake(cx);
    }

    fn handlers(&self, h: &mut Handlers) {
        type S = FlowSource;
        pace::handlers::<S>(h);
        h.read("limit", |e: &mut S, _| e.pace.limit as u32);
        h.read("stop", |e: &mut S, _| e.stop);
        h.write("stop", |e: &mut S, cx, text| {
            e.stop = router::value(cx, text)?;
            Ok(())
        });
        h.read("length", |e: &mut S, _| e.frame.len());
        h.write("length", |e: &mut S, cx, text| {
            let length: u32 = router::value(cx, text)?;
            e.set_length(cx, length as usize)
        });
        for (name, place) in [("srceth", 0), ("dsteth", 1)] {
            h.write(name, move |e: &mut S, cx, text| {
                e.macs[place] = router::value(cx, text)?;
                e.fill_frame();
                Ok(())
            });
        }
    }
}
