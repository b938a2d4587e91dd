//! The elements in the place of those that reach outside of a router.

use super::doors::{Doors, Link};
use crate::memory::device_name;
use device::capture::LinkType;
use elements_shared::encap;
use elements_shared::pulling::{self, Intake};
use packet::{Batch, Kind};
use router::{Class, Config, ConfigError, Create, Cx, Element, Handlers, Pull, Verdict};
use std::time::Duration;
use wire::MacAddr;
use wire::ethernet::Header;

/// The handler that tells an element that a packet has arrived.
pub(super) const ARRIVED: &str = "arrived";
/// The link type of bare IP packets.
const BARE: u32 = 101;
/// Looks without a packet before the element waits.
const PATIENCE: u32 = 256;
/// How long to wait for packets where nothing says that there are none.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// What takes the place of a class's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    FromDevice,
    ToDevice,
    FromHost,
    ToHost,
    Tun,
    Tap,
    /// Packets go on or end, and no file is written.
    Swallow,
    /// Nothing happens.
    Silent,
}

/// What has an element in its place, and which.
const ROLES: &[(&str, Role)] = &[
    ("FromDevice", Role::FromDevice),
    ("FromMemory", Role::FromDevice),
    ("ToDevice", Role::ToDevice),
    ("ToMemory", Role::ToDevice),
    ("FromHost", Role::FromHost),
    ("ToHost", Role::ToHost),
    ("KernelTun", Role::Tun),
    ("KernelTap", Role::Tap),
    ("ToDump", Role::Swallow),
    ("ToIPSummaryDump", Role::Swallow),
    ("ToMinDump", Role::Swallow),
    ("ToHostSniffers", Role::Swallow),
    ("ControlSocket", Role::Silent),
    ("MetricsSocket", Role::Silent),
    ("ChatterSocket", Role::Silent),
    ("HTTPServer", Role::Silent),
    ("KernelFilter", Role::Silent),
    ("ChangeUID", Role::Silent),
    ("ClickyInfo", Role::Silent),
    // Neighbours answer, and routes are in the tables.
    ("KernelNeighbours", Role::Silent),
    ("KernelRoutes", Role::Silent),
    ("FPMServer", Role::Silent),
];

fn role(class: &Class) -> Option<Role> {
    let name = class.alias_of.unwrap_or(class.name);
    ROLES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
}

/// Whether something takes the place of a class's elements.
pub(super) fn is_one(class: &Class) -> bool {
    role(class).is_some()
}

/// The class whose elements take the place of a class's: it has the same name and ports. `None` if elements of the class are as they are.
pub(super) fn in_place_of(class: &'static Class) -> Option<&'static Class> {
    let create: Create = match role(class)? {
        Role::FromDevice => |config| device(config, Role::FromDevice),
        Role::ToDevice => |config| device(config, Role::ToDevice),
        Role::FromHost => |config| device(config, Role::FromHost),
        Role::ToHost => |config| device(config, Role::ToHost),
        Role::Tun => |config| device(config, Role::Tun),
        Role::Tap => |config| device(config, Role::Tap),
        Role::Swallow => |config| Ok(Box::new(Swallow { intake: Intake::of(config) })),
        Role::Silent => |_| Ok(Box::new(Silent)),
    };
    // A class lives as long as the program.
    Some(Box::leak(Box::new(Class { create, ..*class })))
}

/// The interface whose packets an element of a class emits.
pub(super) fn source(class: &Class, config: &str) -> Option<String> {
    let role = role(class).filter(|role| !matches!(role, Role::ToDevice | Role::ToHost))?;
    port(role, config)
}

/// The interface that an element is for.
fn port(role: Role, config: &str) -> Option<String> {
    match role {
        Role::FromDevice | Role::ToDevice | Role::FromHost | Role::ToHost => device_name(config, true),
        // The kernel gives it a name if the configuration does not: its address stands for it then.
        Role::Tun | Role::Tap => device_name(config, false)
            .or_else(|| keyword(config, "DEV_NAME"))
            .or_else(|| lang::conf::split_args(config).first().cloned()),
        Role::Swallow | Role::Silent => None,
    }
}

/// The value of a keyword argument.
fn keyword(config: &str, name: &str) -> Option<String> {
    let arguments = lang::conf::split_args(config);
    let values = arguments.iter().filter_map(|argument| lang::conf::keyword(argument));
    values.filter(|(keyword, _)| *keyword == name).map(|(_, value)| lang::conf::unquote(value)).next()
}

/// Stands in the place of a device.
struct Device {
    doors: Doors,
    port: String,
    is_source: bool,
    /// Where IP headers are to be marked.
    marks: Option<LinkType>,
    /// Whether what is no IP packet leaves by output 1.
    sorts: bool,
    /// Whether packets begin with their IP header.
    is_bare: bool,
    /// Whether what is in front of the IP header of packets that are sent is taken off.
    strips: bool,
    /// The interface's own address.
    ether: Option<MacAddr>,
    pulls: bool,
    /// The only EtherType that is received; 0 for all.
    protocol: u16,
    /// Whether what was sent goes on to output 0.
    passes: bool,
    burst: usize,
    /// Looks without a packet.
    idle: u32,
}

fn device(config: &mut Config<'_>, role: Role) -> Result<Box<dyn Element>, ConfigError> {
    let text = config.text().to_owned();
    let doors = config.resource::<Doors>().ok_or("there are no doors")?.clone();
    let port = port(role, &text).or_else(|| doors.only_host().filter(|_| role == Role::ToHost));
    let port = port.ok_or("DEVNAME: required argument missing")?;
    let is_set = |name| keyword(&text, name).and_then(|value| router::parse_boolean(&value)) == Some(true);
    let is_bare = match role {
        Role::FromDevice => keyword(&text, "ENCAP").is_some_and(|encap| encap == "IP"),
        Role::FromHost => keyword(&text, "TYPE").is_some_and(|kind| kind == "IP"),
        Role::Tun => !is_set("TAP"),
        Role::ToHost => doors.is_bare(&port),
        _ => false,
    };
    let is_host = matches!(role, Role::FromHost | Role::ToHost | Role::Tun | Role::Tap);
    let is_source = !matches!(role, Role::ToDevice | Role::ToHost);
    if is_source {
        doors.open(&port, config.name(), Link { is_bare, is_host })?;
    }
    let protocol = keyword(&text, "PROTOCOL").filter(|_| role == Role::FromDevice);
    let protocol = protocol.and_then(|text| router::parse_integer(&text)?.try_into().ok());
    let link = if is_bare { LinkType::from_code(BARE) } else { LinkType::Ethernet };
    let forces_ip = role == Role::FromDevice && is_set("FORCE_IP");
    Ok(Box::new(Device {
        is_source,
        marks: (forces_ip || role == Role::FromHost || is_host && is_bare).then_some(link),
        sorts: forces_ip || is_host && is_bare,
        is_bare,
        strips: is_bare && is_host,
        ether: device::addresses::ether(&port).filter(|_| role == Role::FromDevice),
        pulls: pulling::pulls(config),
        passes: role == Role::ToDevice && config.outputs() > 0,
        burst: config.vector(),
        idle: 0,
        protocol: protocol.unwrap_or(0),
        doors,
        port,
    }))
}

impl Device {
    /// Emits what has arrived.
    fn receive(&mut self, cx: &mut Cx<'_>) {
        let mut batch = cx.batch();
        let now_ns = cx.now_ns();
        while let Some(bytes) = self.doors.next(&self.port) {
            if self.protocol != 0 && bytes.get(12..14) != Some(&self.protocol.to_be_bytes()[..]) {
                continue; // the kernel would not hand it over
            }
            let Some(mut packet) = cx.pool().packet(&bytes) else {
                cx.count_drops("no buffer for a received frame", 1);
                continue;
            };
            packet.set_timestamp_ns(now_ns);
            if !self.strips {
                packet.set_mac_offset(0);
            }
            if !self.is_bare {
                packet.set_kind(self.kind(packet.data()));
            }
            batch.push(packet);
            if batch.len() >= self.burst {
                let full = std::mem::replace(&mut batch, cx.batch());
                self.emit(cx, full);
            }
        }
        self.emit(cx, batch);
    }

    /// To whom a frame is addressed.
    fn kind(&self, frame: &[u8]) -> Kind {
        let Ok(header) = Header::new_checked(frame) else { return Kind::Host };
        match header.dst() {
            to if to.is_broadcast() => Kind::Broadcast,
            to if to.is_group() => Kind::Multicast,
            to if self.ether.is_some_and(|own| own != to) => Kind::OtherHost,
            _ => Kind::Host,
        }
    }

    fn emit(&self, cx: &mut Cx<'_>, batch: Batch) {
        let (marks, sorts) = (self.marks, self.sorts);
        cx.scatter(batch, |_, packet| match marks.is_none_or(|link| encap::mark_ip(packet, link)) {
            false if sorts => Verdict::Output(1),
            _ => Verdict::Pass,
        });
    }

    fn send(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let strips = self.strips;
        let batch = cx.sift(batch, |_, packet| {
            // A TUN interface takes what begins with the IP header.
            let at = packet.network_offset().and_then(|at| usize::try_from(at).ok());
            match !strips || at.is_some_and(|at| packet.pull(at)) {
                true => Verdict::Pass,
                false => Verdict::Drop("no network header"),
            }
        });
        batch.iter().for_each(|packet| self.doors.leave(&self.port, packet.data()));
        if self.passes { cx.emit(0, batch) } else { cx.consume(batch) }
    }
}

impl Element for Device {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        pulling::begin(cx, self.pulls);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.send(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.is_source {
            self.receive(cx);
        }
        if self.pulls {
            cx.ask(0, self.burst);
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        self.idle = if batch.is_empty() { self.idle.saturating_add(1) } else { 0 };
        // A queue that has become empty says so after a few looks.
        if self.idle == 0 || self.idle < PATIENCE && cx.signals().may_have(0) {
            cx.tasks().schedule();
        } else if cx.signals().may_have(0) {
            cx.timers().after(0, LOOK_AGAIN);
        }
        self.send(cx, batch);
        Pull::Nothing
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.tasks().schedule();
    }

    fn handlers(&self, h: &mut Handlers) {
        if self.is_source {
            h.write(ARRIVED, |_: &mut Device, cx, _| {
                cx.tasks().schedule();
                Ok(())
            });
        }
    }
}

/// Stands in the place of what writes packets to a file.
struct Swallow {
    intake: Intake,
}

impl Element for Swallow {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.intake.begin(cx);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.intake.pushed(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.ask(0, cx.vector());
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        self.intake.pulled(cx, batch)
    }
}

/// Stands in the place of what no packet reaches.
struct Silent;

impl Element for Silent {}
