//! Sends packets to an output chosen by a list of colours.
//!
//! ```click
//! ExactPaintSwitch([ANNO, KEYWORDS])
//! ```
//!
//! Packets of the first colour in `MAP` leave by output 0, those of the second by output 1, and so on; if a colour is
//! listed twice, its second position counts. Other packets leave by output DEFAULT, or are dropped. It is FastClick's
//! element.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `ANNO` (annotation of one byte, default `PAINT`): the annotation that holds the colour.
//! - `MAP` (integer, 0 to 255), any number of times: the colours.
//! - `DEFAULT` (integer, default -1): the output for other colours; negative: drop them.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Paint(17) -> s :: ExactPaintSwitch(MAP 6, MAP 17);
//! s [0] -> Discard;
//! s [1] -> Discard;
//! ```
//!
//! # See also
//! PaintSwitch, PaintRR, Paint

use crate::basic::paint::AnnoByte;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("ExactPaintSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .doc(router::manual!("exact_paint_switch.rs"));

/// Colours that there are.
const COLOURS: usize = 256;

struct ExactPaintSwitch {
    anno: AnnoByte,
    /// The output of each colour.
    outputs: [Option<usize>; COLOURS],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut anno, mut colours, mut default) = (AnnoByte::default(), Vec::<u32>::new(), -1i32);
    config
        .args()
        .positional("ANNO", &mut anno)
        .keyword("DEFAULT", &mut default)
        .keywords("MAP", &mut colours)
        .finish()?;
    let default = usize::try_from(default).ok();
    if default.is_some_and(|default| default >= config.outputs()) {
        return Err("Default port cannot be higher than the number of ports!".into());
    }
    let mut outputs = [default; COLOURS];
    for (output, colour) in colours.into_iter().enumerate() {
        let of_colour =
            outputs.get_mut(colour as usize).ok_or_else(|| format!("Invalid Paint offset {colour}"))?;
        *of_colour = Some(output).filter(|&output| output < config.outputs());
    }
    Ok(Box::new(PerPacket(ExactPaintSwitch { anno, outputs })))
}

impl Simple for ExactPaintSwitch {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.outputs[usize::from(self.anno.of(packet))] {
            Some(output) => Verdict::Output(output),
            None => Verdict::Drop("no output for the colour"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn bad_arguments() {
        let error = |args: &str| errors(&format!("Idle -> ExactPaintSwitch({args}) -> Discard"));
        assert!(error("DEFAULT 1").contains("Default port cannot be higher than the number of ports!"));
        assert!(error("MAP 5, MAP 256").contains("Invalid Paint offset 256"));
    }
}
