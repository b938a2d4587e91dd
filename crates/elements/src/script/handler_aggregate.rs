//! Adds up what handlers of several elements say.
//!
//! ```click
//! HandlerAggregate(ELEMENT NAME, ...)
//! ```
//!
//! It is FastClick's element.
//!
//! Ports: none. Workers: exclusive; the elements may be on any.
//!
//! # Arguments
//! - `ELEMENT` (element), any number of times: whose handlers are read.
//!
//! # Handlers
//! - `add` (read with parameter `HANDLER [ARGUMENT]`): the sum of that handler's values, read from all the elements. What is no number
//!   counts as 0.
//! - `avg` (read with the same parameter): their average.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 3) -> a :: Counter -> Discard; InfiniteSource(LIMIT 4) -> b :: Counter -> Discard;
//! h :: HandlerAggregate(ELEMENT a, ELEMENT b); Script(wait 1, print $(h.add count), stop)
//! ```
//!
//! # See also
//! Script, Counter

use super::sprintf::general;
use lang::conf::pop_space;
use router::{
    Answer, Call, Class, Config, ConfigError, Cx, Element, ElementName, Handlers, Outcome, Residency, Step,
};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("HandlerAggregate", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("handler_aggregate.rs"));

struct HandlerAggregate {
    elements: Vec<ElementName>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut elements = Vec::new();
    config.args().keywords("ELEMENT", &mut elements).finish()?;
    Ok(Box::new(HandlerAggregate { elements }))
}

/// A reading that is under way.
struct Reading {
    handler: String,
    argument: String,
    average: bool,
    /// Elements that were asked.
    asked: usize,
    sum: f64,
}

/// The number with which a text begins, 0 if it does not begin with one.
fn leading_number(text: &str) -> f64 {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(text.len());
    (0..=end).rev().find_map(|end| text.get(..end)?.parse().ok()).unwrap_or(0.0)
}

fn start(mut text: &str, average: bool) -> Outcome {
    let handler = pop_space(&mut text).to_owned();
    Outcome::Start(Box::new(Reading { handler, argument: text.to_owned(), average, asked: 0, sum: 0.0 }))
}

impl Element for HandlerAggregate {
    fn resume(&mut self, cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        let Some(reading) = state.downcast_mut::<Reading>() else {
            return Step::Done(Err("no reading".to_owned()));
        };
        match answer {
            Answer::Start => {}
            Answer::Result(Ok(value)) => reading.sum += leading_number(&value),
            Answer::Result(Err(error)) => return Step::Done(Err(error)),
        }
        if let Some(element) = self.elements.get(reading.asked) {
            reading.asked += 1;
            let path = format!("{}.{}", element.name, reading.handler);
            return Step::Call(Call::read(path, reading.argument.clone()).within(cx.index()));
        }
        let count = if reading.average { self.elements.len() } else { 1 };
        Step::Done(Ok(general(reading.sum / count as f64)))
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read_outcome("add", |_: &mut HandlerAggregate, _, text| start(text, false));
        h.read_outcome("avg", |_: &mut HandlerAggregate, _, text| start(text, true));
    }
}

#[cfg(test)]
mod tests {
    use super::leading_number;

    #[test]
    fn numbers() {
        for (text, number) in
            [("12", 12.0), (" -1.5e3 x", -1500.0), ("7e", 7.0), ("x", 0.0), ("", 0.0), ("3é", 3.0)]
        {
            assert_eq!(leading_number(text), number, "{text}");
        }
    }
}
