//! Colours packets.
//!
//! ```click
//! Paint(COLOR [, ANNO])
//! ```
//!
//! Sets each packet's colour, an annotation of one byte, to COLOR.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `COLOR` (integer, 0 to 255): the colour.
//! - `ANNO` (annotation of one byte, default `PAINT`): where to store it: a name, or an offset from 0 to 47.
//!
//! # Handlers
//! - `color` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> Paint(3) -> PaintSwitch -> Discard
//! ```
//!
//! # See also
//! PaintTee, PaintSwitch

use packet::{Anno, Packet};
use router::{
    Class, Config, ConfigError, Cx, Element, FromArg, Handlers, PerPacket, Scope, Simple, Verdict,
    parse_integer,
};

/// The class.
pub(crate) const CLASS: Class = Class::new("Paint", create).pure().live().doc(router::manual!("paint.rs"));

/// The place of an annotation of one byte, as an argument: a name, an offset, or `OFFSET/SIZE`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnnoByte(u8);

impl Default for AnnoByte {
    fn default() -> Self {
        AnnoByte(Anno::PAINT.offset as u8)
    }
}

impl FromArg for AnnoByte {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let (place, size) = text.split_once('/').map_or((text, None), |(place, size)| (place, Some(size)));
        let wrong = || router::parse_error("annotation of one byte", text);
        if size.is_some_and(|size| parse_integer(size) != Some(1)) {
            return wrong();
        }
        if let Some(anno) = Anno::named(place) {
            return if anno.size == 1 { Ok(AnnoByte(anno.offset as u8)) } else { wrong() };
        }
        if let Ok(anno) = router::AnnoOf::<1>::from_arg(place, scope) {
            return Ok(AnnoByte(anno.0.offset as u8));
        }
        let offset = parse_integer(place).and_then(|offset| usize::try_from(offset).ok());
        match offset.and_then(|offset| Anno::new(offset, 1)) {
            Some(anno) => Ok(AnnoByte(anno.offset as u8)),
            None => wrong(),
        }
    }
}

impl AnnoByte {
    /// Its value in a packet.
    #[inline]
    pub(crate) fn of(self, packet: &Packet) -> u8 {
        packet.anno(Anno { offset: usize::from(self.0), size: 1 }) as u8
    }

    /// Where it is.
    pub(crate) fn offset(self) -> u8 {
        self.0
    }

    /// Sets its value in a packet.
    #[inline]
    pub(crate) fn set(self, packet: &mut Packet, value: u8) {
        packet.set_anno(Anno { offset: usize::from(self.0), size: 1 }, u64::from(value));
    }
}

#[derive(Default)]
struct Paint {
    color: u8,
    anno: AnnoByte,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Paint::default();
    config.args().required("COLOR", &mut e.color).positional("ANNO", &mut e.anno).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for Paint {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.anno.set(packet, self.color);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("color", |e: &mut Paint, _| e.color);
        h.write("color", |e: &mut Paint, cx, text| {
            e.color = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    #[test]
    fn sets_one_annotation_byte_and_no_other() {
        let place = |anno: &str| {
            let line = run(&format!(
                "InfiniteSource(DATA x, LIMIT 1, STOP true) -> Paint(0xab{anno}) -> Print(CONTENTS NONE, PRINTANNO true)
                 -> Discard"
            ));
            let dump = line.trim_end().rsplit(' ').next().unwrap_or("").to_owned();
            assert_eq!((dump.len(), dump.replace('0', "").as_str()), (96, "ab"), "{line}");
            dump.find('a').map(|at| at / 2)
        };
        assert_eq!(
            [place(""), place(", PAINT"), place(", ANNO 20"), place(", 47/1")],
            [16, 16, 20, 47].map(Some)
        );
    }

    #[test]
    fn bad_arguments() {
        let text = errors("Idle -> Paint(256, DST_IP) -> Discard");
        assert!(text.contains("COLOR: ") && text.contains("ANNO: parse error\n"), "{text}");
    }
}
