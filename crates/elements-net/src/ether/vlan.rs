//! VLAN tags as elements put and find them: the tag control information that arguments or annotations say.

use packet::{Anno, Packet};
use router::{Cx, FromArg, Handlers, Scope};
use wire::vlan::ID_MASK;

/// Why packets are dropped that end before an Ethernet header does.
pub(super) const NO_HEADER: &str = "no Ethernet header";

/// The tag control information in a packet's VLAN annotation, which is in network order.
#[inline]
pub(super) fn annotation(packet: &Packet) -> u16 {
    let bytes = packet.annotations()[Anno::VLAN_TCI.offset..].first_chunk();
    u16::from_be_bytes(bytes.copied().unwrap_or_default())
}

/// Sets a packet's VLAN annotation.
#[inline]
pub(super) fn annotate(packet: &mut Packet, tci: u16) {
    if let Some(place) = packet.annotations_mut()[Anno::VLAN_TCI.offset..].first_chunk_mut() {
        *place = tci.to_be_bytes();
    }
}

/// An integer within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounded<const MIN: i32, const MAX: i32>(pub(super) i32);

impl<const MIN: i32, const MAX: i32> FromArg for Bounded<MIN, MAX> {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        match i32::from_arg(text, scope)? {
            value if value < MIN => Err(format!("out of range, bound {MIN}")),
            value if value > MAX => Err(format!("out of range, bound {MAX}")),
            value => Ok(Bounded(value)),
        }
    }
}

/// The argument `VLAN_TCI`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tci {
    /// The packet's annotation says it.
    Annotation,
    /// This value.
    Value(u16),
}

impl FromArg for Tci {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        if text == "ANNO" {
            return Ok(Tci::Annotation);
        }
        Bounded::<0, 0xffff>::from_arg(text, scope).map(|Bounded(value)| Tci::Value(value as u16))
    }
}

/// How packets are tagged: the arguments, each of which has a handler, and what they come to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tagging {
    tci: Option<Tci>,
    id: u16,
    priority: u8,
    native: u16,
    value: u16,
}

/// In place of the native VLAN where there is none: no tag has this identifier.
const NO_NATIVE: u16 = u16::MAX;

/// The arguments as they are read.
pub(super) struct Arguments {
    pub(super) tci: Option<Tci>,
    pub(super) id: Option<Bounded<0, 0xfff>>,
    pub(super) priority: Bounded<0, 7>,
    pub(super) native: Bounded<-1, 0xfff>,
}

impl Default for Arguments {
    fn default() -> Arguments {
        Arguments { tci: None, id: None, priority: Bounded(0), native: Bounded(0) }
    }
}

impl Tagging {
    /// What the arguments say.
    pub(super) fn new(arguments: &Arguments) -> Tagging {
        let mut tagging = Tagging {
            tci: arguments.tci,
            id: arguments.id.map_or(0, |id| id.0 as u16),
            priority: arguments.priority.0 as u8,
            native: u16::try_from(arguments.native.0).unwrap_or(NO_NATIVE),
            value: 0,
        };
        tagging.combine();
        tagging
    }

    fn combine(&mut self) {
        let low = if let Some(Tci::Value(value)) = self.tci { value } else { self.id };
        self.value = low | u16::from(self.priority) << 13;
    }

    /// Sets identifier and priority, made of the value that there is: its parts take the place of a whole. As in Click, packets'
    /// annotations go on to count where they do.
    fn set_parts(&mut self, parts: impl FnOnce(u16) -> (u16, u16)) {
        if self.tci == Some(Tci::Annotation) {
            return;
        }
        let (id, priority) = parts(self.value);
        (self.tci, self.id, self.priority) = (None, id, priority as u8);
        self.combine();
    }

    /// The tag control information for a packet.
    #[inline]
    pub(super) fn of(&self, packet: &Packet) -> u16 {
        if self.tci == Some(Tci::Annotation) { annotation(packet) } else { self.value }
    }

    /// The value for packets without regard to annotations.
    #[inline]
    pub(super) fn value(&self) -> u16 {
        self.value
    }

    /// Whether packets with this tag control information travel untagged.
    #[inline]
    pub(super) fn is_native(&self, tci: u16) -> bool {
        self.native == tci & ID_MASK
    }

    /// The arguments as the handler `config` says them.
    fn arguments(&self) -> String {
        let tag = match self.tci {
            Some(Tci::Annotation) => "ANNO".to_owned(),
            _ => format!("VLAN_ID {}, VLAN_PCP {}", self.value & ID_MASK, self.value >> 13),
        };
        match self.native() {
            0 => tag,
            native => format!("{tag}, NATIVE_VLAN {native}"),
        }
    }

    /// The argument NATIVE_VLAN.
    fn native(&self) -> i32 {
        if self.native == NO_NATIVE { -1 } else { i32::from(self.native) }
    }

    fn shown(&self) -> String {
        if self.tci == Some(Tci::Annotation) { "ANNO".to_owned() } else { self.value.to_string() }
    }
}

/// Declares the handler `config`, which says the arguments about tags in Click's form, whatever form they were given in.
pub(super) fn config_handler<E: 'static>(h: &mut Handlers, part: fn(&mut E) -> &mut Tagging) {
    h.read("config", move |e: &mut E, _| part(e).arguments());
}

/// Declares the handlers `vlan_tci`, `vlan_id` and `vlan_pcp` of an element that has a `Tagging`.
pub(super) fn tag_handlers<E: 'static>(h: &mut Handlers, part: fn(&mut E) -> &mut Tagging) {
    h.read("vlan_tci", move |e: &mut E, _| part(e).shown());
    h.write("vlan_tci", move |e: &mut E, cx, text| {
        let tci = router::keyword_value::<Tci>(cx, "VLAN_TCI", text)?;
        let tagging = part(e);
        tagging.tci = Some(tci);
        tagging.combine();
        Ok(())
    });
    h.read("vlan_id", move |e: &mut E, _| part(e).value & ID_MASK);
    h.write("vlan_id", move |e: &mut E, cx, text| {
        let Bounded(id) = router::keyword_value::<Bounded<0, 0xfff>>(cx, "VLAN_ID", text)?;
        part(e).set_parts(|value| (id as u16, value >> 13));
        Ok(())
    });
    h.read("vlan_pcp", move |e: &mut E, _| part(e).value >> 13);
    h.write("vlan_pcp", move |e: &mut E, cx: &mut Cx<'_>, text| {
        let Bounded(priority) = router::keyword_value::<Bounded<0, 7>>(cx, "VLAN_PCP", text)?;
        part(e).set_parts(|value| (value & ID_MASK, priority as u16));
        Ok(())
    });
}

/// Declares the handler `native_vlan`.
pub(super) fn native_handler<E: 'static>(h: &mut Handlers, part: fn(&mut E) -> &mut Tagging) {
    h.read("native_vlan", move |e: &mut E, _| part(e).native());
    h.write("native_vlan", move |e: &mut E, cx, text| {
        let Bounded(native) = router::value::<Bounded<-1, 0xfff>>(cx, text)?;
        part(e).native = u16::try_from(native).unwrap_or(NO_NATIVE);
        Ok(())
    });
}
