//! Sends packets by an alternative path while it is active.
//!
//! ```click
//! Bypass([ACTIVE, KEYWORDS])
//! ```
//!
//! Pushed packets leave by output 0 or, while the element is active, by output 1. Packets that arrive at input 1
//! always leave by output 0, so that the alternative path can end where it started. For pulls it is the mirror image:
//! pulls at output 0 are passed to input 0 or, while active, to input 1; pulls at output 1 are always passed to input
//! 0.
//!
//! Ports: 1 or 2 inputs, 1 or 2 outputs. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ACTIVE` (boolean, default false): whether packets take the alternative path. If there is none, they take the
//!   normal one.
//! - `INLINE` (boolean): accepted, and ignored: the element never rewires its neighbours. Passing a batch costs a few
//!   nanoseconds.
//!
//! # Handlers
//! - `active` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> b :: Bypass -> Discard;
//! b [1] -> Print(debug) -> [1] b;
//! ```
//!
//! # See also
//! Switch, PullSwitch, Null

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Flags, Handlers, Pull};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Bypass", create).ports("1-2/1-2").flow("xy/[xy]x").doc(router::manual!("bypass.rs"));

struct Bypass {
    active: bool,
    inputs: usize,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = Bypass { active: false, inputs: config.inputs(), outputs: config.outputs() };
    let mut inline = false;
    config.args().positional("ACTIVE", &mut e.active).keyword("INLINE", &mut inline).finish()?;
    Ok(Box::new(e))
}

impl Bypass {
    /// The port on the other side, which has so many, of a port on this one.
    #[inline]
    fn other(&self, port: usize, ports: usize) -> usize {
        usize::from(self.active && port == 0 && ports > 1)
    }
}

impl Element for Bypass {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        cx.emit(self.other(port, self.outputs), batch);
    }

    #[inline]
    fn pull(&mut self, _cx: &mut Cx<'_>, port: usize, want: usize) -> Pull {
        Pull::Ask { input: self.other(port, self.inputs), want }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("active", |e: &mut Bypass, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut Bypass, cx, text| {
            e.active = router::value(cx, text).map_err(|_| "syntax error".to_owned())?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// The side path is taken while active, and leads back to the main one.
    #[test]
    fn the_side_path_leads_back_to_the_main_one() {
        let config = "InfiniteSource(LIMIT 40, BURST 40, STOP true) -> Counter(COUNT_CALL 11 b.active true)
                      -> b :: Bypass -> d :: Discard; b[1] -> c :: Counter -> [1] b";
        assert_eq!(run_and_read(config, &["c.count", "d.count", "b.active"]), ["30", "40", "true"]);
    }

    #[test]
    fn pulled_packets_take_the_side_path() {
        let config = "InfiniteSource(LIMIT 40) -> Queue -> b :: Bypass(true) -> d :: Discard;
                      b[1] -> c :: Counter -> [1] b; RatedSource(LIMIT 4, STOP true) -> Discard;";
        assert_eq!(run_and_read(config, &["c.count", "d.count"]), ["40", "40"]);
    }
}
