//! Introduces random bit errors into packets.
//!
//! ```click
//! RandomBitErrors(P [, KIND, ACTIVE])
//! ```
//!
//! Changes each bit of each packet with probability P: flips it, sets it or clears it.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `P` (number from 0 to 1): the probability.
//! - `KIND` (default `flip`): `flip`, `set` or `clear`.
//! - `ACTIVE` (boolean, default true): whether to change anything.
//!
//! # Handlers
//! - `p_bit_error` (read, write): the argument P.
//! - `error_kind` (read, write): the argument KIND.
//! - `active` (read, write): the argument ACTIVE.
//!
//! # Example
//! ```click
//! InfiniteSource -> RandomBitErrors(0.0001) -> CheckIPHeader -> Discard
//! ```
//!
//! # See also
//! RandomSample

use elements_shared::fraction::Fraction;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Flags, Handlers, PerPacket, Simple, Verdict};
use std::fmt;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("RandomBitErrors", create).live().doc(router::manual!("random_bit_errors.rs"));

type Probability = Fraction<28>;

const BAD_PROBABILITY: &str = "drop probability must be between 0 and 1";

/// What happens to a bit.
#[derive(Clone, Copy, Default)]
enum Kind {
    #[default]
    Flip,
    Set,
    Clear,
}

impl Kind {
    fn named(name: &str) -> Result<Kind, String> {
        match name {
            "flip" | "" => Ok(Kind::Flip),
            "set" => Ok(Kind::Set),
            "clear" => Ok(Kind::Clear),
            other => Err(format!("bad action '{other}' (must be 'set', 'clear', or 'flip')")),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Flip => "flip",
            Kind::Set => "set",
            Kind::Clear => "clear",
        })
    }
}

struct RandomBitErrors {
    probability: Probability,
    kind: Kind,
    active: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = RandomBitErrors { probability: Probability::default(), kind: Kind::Flip, active: true };
    let mut kind = String::new();
    config
        .args()
        .required("P", &mut e.probability)
        .positional("KIND", &mut kind)
        .positional("ACTIVE", &mut e.active)
        .finish()?;
    e.kind = Kind::named(&kind)?;
    e.probability.complement().ok_or(BAD_PROBABILITY)?;
    if e.probability.value() == 0.0 {
        config.warn("zero bit error probability (underflow?)");
    }
    Ok(Box::new(PerPacket(e)))
}

/// Bits up to the next one that changes, if each does with this probability.
fn gap(cx: &mut Cx<'_>, probability: f64) -> usize {
    if probability >= 1.0 {
        return 0;
    }
    // One random number for each error instead of one for each bit: the gaps are distributed geometrically.
    let chance = 1.0 - cx.rng().f64(); // above 0, at most 1
    (chance.ln() / (-probability).ln_1p()) as usize // the conversion saturates
}

impl Simple for RandomBitErrors {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let probability = self.probability.value();
        if !self.active || probability == 0.0 {
            return Verdict::Pass;
        }
        let mut at = gap(cx, probability);
        while let Some(byte) = packet.data_mut().get_mut(at / 8) {
            let bit = 1 << (at % 8);
            match self.kind {
                Kind::Flip => *byte ^= bit,
                Kind::Set => *byte |= bit,
                Kind::Clear => *byte &= !bit,
            }
            at = at.saturating_add(1).saturating_add(gap(cx, probability));
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type R = RandomBitErrors;
        h.read("p_bit_error", |e: &mut R, _| e.probability);
        h.write("p_bit_error", |e: &mut R, cx, text| {
            let probability: Probability = router::keyword_value(cx, "P", text)?;
            probability.complement().ok_or(BAD_PROBABILITY)?;
            e.probability = probability;
            Ok(())
        })
        .of_argument("P");
        h.read("error_kind", |e: &mut R, _| e.kind);
        h.write("error_kind", |e: &mut R, cx, text| {
            e.kind = Kind::named(&router::keyword_value::<String>(cx, "KIND", text)?)?;
            Ok(())
        })
        .of_argument("KIND");
        h.read("active", |e: &mut R, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut R, cx, text| {
            e.active = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send_one;

    /// About the right number of bits change, in the right way, wherever they are.
    #[test]
    fn changes_bits() {
        let ones = |data: &[u8]| data.iter().map(|byte| byte.count_ones()).sum::<u32>();
        // The packets of both vector sizes differ, so each is sent by itself.
        for (arguments, byte, least, most) in [
            ("0.01", 0x00, 50, 120),
            ("0.01", 0xff, 7880, 7950),
            ("0.01, set", 0xff, 8000, 8000),
            ("0.01, clear", 0xff, 7880, 7950),
            ("1", 0xf0, 4000, 4000),
            ("1, set", 0xf0, 8000, 8000),
            ("0.5, flip, false", 0xf0, 4000, 4000),
        ] {
            let config = format!("Inject -> e :: RandomBitErrors({arguments}) -> Collect(4)");
            let flow = send_one(&config, vec![byte; 1000]);
            let found = ones(flow.only(4).data());
            assert!((least..=most).contains(&found), "{arguments}: {found}");
        }
        let mut flow = send_one("Inject -> e :: RandomBitErrors(0.25, clear) -> Collect(4)", vec![0]);
        assert_eq!((flow.read("e.p_bit_error"), flow.read("e.error_kind")), ("0.25".into(), "clear".into()));
        assert!(errors("Idle -> RandomBitErrors(1.5) -> Discard").contains("must be between 0 and 1"));
        assert!(errors("Idle -> RandomBitErrors(0.5, burn) -> Discard").contains("bad action 'burn'"));
    }
}
