//! Keeps a network of Ethernet switches free of loops.
//!
//! ```click
//! EtherSpanTree(ADDR, INPUT_SUPPRESSOR, OUTPUT_SUPPRESSOR, SWITCH)
//! ```
//!
//! Speaks the spanning tree protocol of IEEE 802.1D with other switches. Configuration messages arrive at the input
//! for the LAN they come from, and leave every two seconds by the outputs for LANs whose designated bridge is this
//! switch. LANs that would close a loop are blocked by the two Suppressors, through which all packets of the switch
//! must pass: while a port is blocked or listening, nothing passes in either direction; while it is learning, packets
//! are only let in.
//!
//! Unlike in Click, addresses are compared as 802.1D specifies, first byte first; messages that are not bridge
//! messages are dropped; and topology changes reported by other switches are acknowledged.
//!
//! Ports: any number of inputs and outputs, one of each for a LAN. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `ADDR` (Ethernet address): this switch's address.
//! - `INPUT_SUPPRESSOR`, `OUTPUT_SUPPRESSOR` (names of Suppressor elements): the elements that block ports.
//! - `SWITCH` (name of an EtherSwitch element): the switch.
//!
//! # Handlers
//! - `msgs` (read): the best message of each LAN, one per line, and last the one that this switch uses.
//!
//! # Example
//! ```click
//! c :: Classifier(14/4242, -); d :: Classifier(14/4242, -);
//! t :: EtherSpanTree(1:1:1:1:1:1, in, out, s); s :: EtherSwitch;
//! in :: Suppressor; out :: Suppressor;
//! Idle -> c; c[0] -> [0]t; c[1] -> [0]in[0] -> [0]s[0] -> [0]out[0] -> Discard;
//! Idle -> d; d[0] -> [1]t; d[1] -> [1]in[1] -> [1]s[1] -> [1]out[1] -> Discard;
//! t[0] -> Discard; t[1] -> Discard;
//! ```
//!
//! # See also
//! EtherSwitch, Suppressor

mod message;

pub(super) use self::message::describe;
use self::message::{Message, Received};
use elements_shared::ether_header::mark_frame;
use packet::{Batch, DEFAULT_HEADROOM, Packet};
use router::{Call, Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::any::Any;
use std::time::Duration;
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("EtherSpanTree", create)
    .ports("-/-")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .makes("messages of the protocol")
    .absorbs("messages of the protocol")
    .doc(router::manual!("ether_span_tree.rs"));

/// High, so that a switch of this kind hardly ever becomes the root.
const PRIORITY: u64 = 0xdead;
const SECOND_NS: i64 = 1_000_000_000;
/// Timers: what there is to do regularly; and once, when states were taken over.
const HELLO: u32 = 0;
const TELL: u32 = 1;

/// How far a port is on its way to forwarding. The numbers are those of messages for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum State {
    Block = 0,
    Listen = 1,
    Learn = 2,
    Forward = 3,
}

struct Port {
    state: State,
    since_ns: i64,
    /// The best message heard there.
    message: Message,
    /// Whether a reported topology change is to be acknowledged.
    acknowledge: bool,
}

struct EtherSpanTree {
    mac: MacAddr,
    id: u64,
    suppressors: [String; 2],
    switch: String,
    ports: Vec<Port>,
    outputs: usize,
    /// What this switch believes: its own message, or the best one heard.
    best: Message,
    /// Whether a change of topology is to be reported to the root.
    report: bool,
}

/// What goes to a new configuration.
struct Handover {
    mac: MacAddr,
    ports: Vec<Port>,
    best: Message,
    report: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut mac = MacAddr::ZERO;
    let (mut input, mut output, mut switch) = (String::new(), String::new(), String::new());
    config
        .args()
        .required("ADDR", &mut mac)
        .required("INPUT_SUPPRESSOR", &mut input)
        .required("OUTPUT_SUPPRESSOR", &mut output)
        .required("SWITCH", &mut switch)
        .finish()?;
    let id = mac.octets().iter().fold(PRIORITY, |id, &octet| id << 8 | u64::from(octet));
    let port = |_| Port { state: State::Block, since_ns: 0, message: Message::WORST, acknowledge: false };
    Ok(Box::new(EtherSpanTree {
        mac,
        id,
        suppressors: [input, output],
        switch,
        ports: (0..config.inputs().max(config.outputs())).map(port).collect(),
        outputs: config.outputs(),
        best: Message::own(id),
        report: false,
    }))
}

impl EtherSpanTree {
    /// Checks that the elements exist that the arguments name.
    fn check(&self, cx: &Cx<'_>) -> Result<(), String> {
        let [input, output] = &self.suppressors;
        let kinds = [("Suppressor", input), ("Suppressor", output), ("EtherSwitch", &self.switch)];
        for (kind, name) in kinds {
            let element = cx.info().find(name, Some(cx.index()));
            let element = element.ok_or_else(|| format!("no element named '{name}'"))?;
            if !cx.info().nodes[element].class.name.ends_with(kind) {
                return Err(format!("'{name}' is not a {kind} element"));
            }
        }
        Ok(())
    }

    /// Brings a port to a state, or a step nearer to forwarding.
    fn set(&mut self, cx: &mut Cx<'_>, at: usize, wanted: State) {
        let old = self.ports[at].state;
        if old == wanted {
            return;
        }
        let new = match (wanted, old) {
            (State::Block, _) => State::Block,
            (_, State::Block) => State::Listen,
            (_, State::Listen) => State::Learn,
            _ => State::Forward,
        };
        if wanted == State::Block || old == State::Block {
            let way = if wanted == State::Block { "FORWARD -> BLOCK" } else { "BLOCK -> FORWARD" };
            cx.debug(format_args!("Setting send_tc_msg: {way} on {at}"));
            self.report = true;
        }
        cx.log(format_args!("Changing port {at} from {} to {}", old as u8, new as u8));
        self.ports[at].state = new;
        self.ports[at].since_ns = cx.now_ns();
        self.tell_suppressors(cx, at);
    }

    /// Lets a port's frames through, or not, as its state says.
    fn tell_suppressors(&self, cx: &mut Cx<'_>, at: usize) {
        for (name, least) in self.suppressors.iter().zip([State::Learn, State::Forward]) {
            let open = self.ports[at].state >= least;
            cx.handlers().call(Call::write(format!("{name}.active{at}"), open.to_string()));
        }
    }

    /// Decides anew what to believe, and which ports are part of the tree.
    fn find_tree(&mut self, cx: &mut Cx<'_>) {
        self.best = Message::own(self.id);
        let mut root = None;
        for (at, port) in self.ports.iter().enumerate() {
            let through = port.message.one_further();
            if through.is_better_than(&self.best) {
                (self.best, root) = (through, Some(at));
            }
        }
        for at in 0..self.ports.len() {
            // The tree has the port towards the root, and those on which no other bridge says something better than this one.
            let heard = &self.ports[at].message;
            let behind = root != Some(at) && heard.is_better_than(&self.best.said_by(self.id, at));
            if behind {
                self.set(cx, at, State::Block);
            } else if self.ports[at].state == State::Block {
                self.set(cx, at, State::Forward);
            }
        }
    }

    fn hear(&mut self, cx: &mut Cx<'_>, port: usize, packet: &Packet) -> Result<(), &'static str> {
        let here = self.ports.get_mut(port).ok_or("no such port")?;
        match Message::read(packet.data(), cx.now_ns()).ok_or("no bridge message")? {
            Received::TopologyChange => here.acknowledge = true,
            Received::Configuration { message, acknowledged } => {
                // An equal one counts as well: it is fresher.
                if !here.message.is_better_than(&message) {
                    here.message = message;
                    self.report &= !acknowledged;
                }
            }
        }
        self.find_tree(cx);
        Ok(())
    }

    fn grow_older(&mut self, cx: &mut Cx<'_>) {
        let now_ns = cx.now_ns();
        let delay_ns = i64::from(self.best.forward_delay_s) * SECOND_NS;
        for at in 0..self.ports.len() {
            let waits = matches!(self.ports[at].state, State::Listen | State::Learn);
            if waits && self.ports[at].since_ns < now_ns - delay_ns {
                self.set(cx, at, State::Forward);
            }
        }
        let oldest_ns = now_ns - i64::from(self.best.max_age_s) * SECOND_NS;
        for (at, port) in self.ports.iter_mut().enumerate() {
            if port.message.since_ns.is_some_and(|since_ns| since_ns <= oldest_ns) {
                port.message = Message::WORST;
                cx.log(format_args!("Expiring message on port {at}"));
            }
        }
        self.find_tree(cx);
    }

    /// What is to be said on a port.
    fn speech(&mut self, at: usize, now_ns: i64) -> Option<[u8; message::LEN]> {
        let port = &mut self.ports[at];
        if port.message.is_better_than(&self.best) {
            return None;
        }
        if port.message.is_as_good_as(&self.best) {
            return self.report.then(|| message::topology_change(self.mac));
        }
        let acknowledge = std::mem::take(&mut port.acknowledge);
        Some(self.best.said_by(self.id, at).write(self.mac, now_ns, acknowledge))
    }

    fn speak(&mut self, cx: &mut Cx<'_>) {
        for output in 0..self.outputs {
            let Some(bytes) = self.speech(output, cx.now_ns()) else { continue };
            match cx.pool().alloc(DEFAULT_HEADROOM, bytes.len()) {
                Some(mut packet) => {
                    packet.data_mut().copy_from_slice(&bytes);
                    mark_frame(&mut packet);
                    cx.emit_packet(output, packet);
                }
                None => cx.count_drops("no buffer for a bridge message", 1),
            }
        }
    }

    fn set_timer(&self, cx: &mut Cx<'_>) {
        // Others say how often: but not so often that there is time for nothing else.
        cx.timers().after(HELLO, Duration::from_secs(u64::from(self.best.hello_s).max(1)));
    }
}

impl Element for EtherSpanTree {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.check(cx)?;
        for at in 0..self.ports.len() {
            self.set(cx, at, State::Forward);
        }
        self.set_timer(cx);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        if key == TELL {
            return (0..self.ports.len()).for_each(|at| self.tell_suppressors(cx, at));
        }
        self.grow_older(cx);
        self.speak(cx);
        self.set_timer(cx);
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        batch.drain(|packet| match self.hear(cx, port, &packet) {
            Ok(()) => cx.pool().free(packet),
            Err(reason) => cx.drop(packet, reason),
        });
        cx.consume(batch);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Handover {
            mac: self.mac,
            ports: std::mem::take(&mut self.ports),
            best: self.best,
            report: self.report,
        }))
    }

    /// Ports forward that did, if the switch is the same: the tree need not be found again.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<Handover>() else { return };
        if state.mac == self.mac && state.ports.len() == self.ports.len() {
            (self.ports, self.best, self.report) = (state.ports, state.best, state.report);
            // After what the new suppressors were told when this element was initialized.
            cx.timers().after(TELL, Duration::ZERO);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("msgs", |e: &mut EtherSpanTree, _| {
            let all = e.ports.iter().map(|port| &port.message).chain([&e.best]);
            all.map(|message| format!("{message}\n")).collect::<String>()
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors, run_and_read};

    /// Two switches with two LANs between them. `a` is nearer to the root, being the one with the lower address.
    const LOOP: &str = "elementclass Bridge { $mac |
            in :: Suppressor; out :: Suppressor; s :: EtherSwitch; t :: EtherSpanTree($mac, in, out, s);
            input[0] -> c :: Classifier(14/4242, -) -> [0]t; c[1] -> [0]in[0] -> [0]s[0] -> [0]out[0] -> [0]output;
            input[1] -> d :: Classifier(14/4242, -) -> [1]t; d[1] -> [1]in[1] -> [1]s[1] -> [1]out[1] -> [1]output;
            t[0] -> [0]output; t[1] -> [1]output };
        a :: Bridge(2:0:0:0:0:1); b :: Bridge(2:0:0:0:0:2);
        a[0] -> Null -> [0]b; a[1] -> Null -> [1]b; b[0] -> Null -> [0]a; b[1] -> Null -> [1]a;";

    /// All of one switch's ports forward, and one of the other's, once they have listened and learnt.
    #[test]
    fn one_port_is_blocked() {
        let config = format!("{LOOP} Script(wait 40, stop)");
        let paths = [
            "a/in.active0",
            "a/out.active0",
            "a/out.active1",
            "b/out.active0",
            "b/in.active1",
            "b/out.active1",
        ];
        let read = run_and_read(&config, &paths);
        assert_eq!(read, ["true", "true", "true", "true", "false", "false"]);
        let message = &run_and_read(&config, &["b/t.msgs"])[0];
        let last = message.lines().last().unwrap_or_default();
        assert!(last.contains(": tc  1 -> dead020000000001  m/h/d: 14/2/f"), "{message}");
    }

    /// A port that is still on its way lets nothing out.
    #[test]
    fn listening_and_learning() {
        for (wait, seen) in [(1, ["false", "false"]), (17, ["true", "false"]), (40, ["true", "true"])] {
            let config = format!("{LOOP} Script(wait {wait}, stop)");
            assert_eq!(run_and_read(&config, &["a/in.active0", "a/out.active0"]), seen, "{wait}");
        }
    }

    /// When the other switch falls silent, the blocked port takes over.
    #[test]
    fn takes_over() {
        let config = format!(
            "{} s :: Switch(0); Script(wait 40, write s0.switch -1, write s1.switch -1, wait 80, stop)",
            LOOP.replace("a[0] -> Null", "a[0] -> s0 :: Switch(0)")
                .replace("a[1] -> Null", "a[1] -> s1 :: Switch(0)")
        );
        let config = config.replace("s :: Switch(0); ", "");
        assert_eq!(run_and_read(&config, &["b/out.active0", "b/out.active1"]), ["true", "true"]);
    }

    #[test]
    fn bad_arguments() {
        let said = errors("t :: EtherSpanTree(1:1:1:1:1:1, a, b, c); a :: Idle; b :: Idle");
        assert!(said.contains("'a' is not a Suppressor element"), "{said}");
        assert!(build("EtherSpanTree(1:1:1:1:1:1, x, y, z)", 1, 1).is_err());
    }
}
