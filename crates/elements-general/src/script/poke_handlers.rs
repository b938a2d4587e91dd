//! Writes to handlers at given times.
//!
//! ```click
//! PokeHandlers(DELAY | HANDLER VALUE | pause | quit | loop, ...)
//! ```
//!
//! Works through its arguments in order: waits, writes to handlers, stops the driver, or starts again. Errors from
//! handlers are printed. It is an older form of Script, which does the work.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `[wait] TIME`: waits for this time, in seconds.
//! - `[write] ELEMENT.HANDLER VALUE`: writes the value to the handler.
//! - `read ELEMENT.HANDLER`, `print ELEMENT.HANDLER`: prints the name and value of the handler to standard error.
//! - `pause`: waits until `unpause` is written.
//! - `quit` (or `stop`): stops the driver.
//! - `loop`: starts again with the first argument.
//!
//! # Handlers
//! - `paused` (read): whether it is waiting at a `pause`.
//! - `unpause` (write): continues after a `pause`.
//!
//! And those of Script.
//!
//! # Example
//! ```click
//! RatedSource -> s :: Switch(0); s[0] -> Discard; s[1] -> Discard;
//! PokeHandlers(1.5, s.switch 1, 1.5, s.switch 0, loop)
//! ```
//!
//! # See also
//! PeekHandlers, Script

use super::element::{Kind, create_with};
use lang::conf::pop_space;
use router::{Class, Config, ConfigError, Element, FromArg, Residency, Scope};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("PokeHandlers", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("poke_handlers.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_as(config, "write")
}

/// A script from arguments where those that say nothing else are for this instruction.
pub(super) fn create_as(config: &mut Config<'_>, instruction: &str) -> Result<Box<dyn Element>, ConfigError> {
    let mut words = Vec::new();
    config.args().rest(&mut words).finish()?;
    let instructions: Vec<String> =
        words.iter().map(|word| translate(word, instruction, config.scope())).collect();
    create_with(Kind::Pokes, &instructions, Vec::new())
}

fn translate(word: &str, instruction: &str, scope: Scope<'_>) -> String {
    let mut rest = word;
    match pop_space(&mut rest) {
        "quit" | "stop" if rest.is_empty() => "stop".to_owned(),
        word @ ("loop" | "pause") if rest.is_empty() => word.to_owned(),
        "read" | "print" if !rest.is_empty() => format!("read {rest}"),
        "write" | "wait" if !rest.is_empty() => word.to_owned(),
        _ if Duration::from_arg(word, scope).is_ok() => format!("wait {word}"),
        _ => format!("{instruction} {word}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn writes_handlers_at_their_times() {
        let config = "TimedSource(1) -> s :: Switch(0); s[0] -> a :: Counter -> Discard; s[1] -> b :: Counter -> Discard;
                      PokeHandlers(2.5, s.switch 1, 3, quit)";
        assert_eq!(run_and_read(config, &["a.count", "b.count"]), ["2", "3"]);
        let config = "TimedSource(1) -> c :: Counter -> Discard; PokeHandlers(1.6, c.reset, loop); Script(wait 10.2, stop)";
        assert_eq!(run_and_read(config, &["c.count"]), ["1"]);
    }
}
