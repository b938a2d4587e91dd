//! Gives flows a colour.
//!
//! ```click
//! FlowPaint(COLOR)
//! ```
//!
//! Passes packets on. In FastClick the colour is stored with the flow, where no element reads it; here it is
//! available only through the handler. Use Paint to set the colour that PaintSwitch reads.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `COLOR` (integer): the colour.
//!
//! # Handlers
//! - `color` (read, write): the argument.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager -> FlowPaint(1) -> Discard
//! ```
//!
//! # See also
//! Paint, FlowSwitch

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FlowPaint", create).processing("h/h").live().doc(router::manual!("flow_paint.rs"));

struct FlowPaint {
    color: i32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut color = 0;
    config.args().required("COLOR", &mut color).finish()?;
    Ok(Box::new(PerPacket(FlowPaint { color })))
}

impl Simple for FlowPaint {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("color", |e: &mut FlowPaint, _| e.color);
        h.write("color", |e: &mut FlowPaint, cx, text| {
            e.color = router::value(cx, text)?;
            Ok(())
        });
    }
}
