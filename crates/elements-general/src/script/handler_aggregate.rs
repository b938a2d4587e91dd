//! Adds up values of handlers of several elements, and writes to all of them.
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
//! - `ELEMENT` (element), any number of times: the elements whose handlers are read and written.
//!
//! # Handlers
//! - `add` (read with parameter `HANDLER [ARGUMENT]`): the sum of that handler's values, read from all the elements.
//!   A value that is not a number counts as 0.
//! - `avg` (read with the same parameter): their average.
//! - `write` (write, `HANDLER [VALUE]`): writes the value to that handler of all the elements, in order, until one
//!   reports an error.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 3) -> a :: Counter -> Discard; InfiniteSource(LIMIT 4) -> b :: Counter -> Discard;
//! h :: HandlerAggregate(ELEMENT a, ELEMENT b); Script(wait 1, print $(h.add count), stop)
//! ```
//!
//! # See also
//! Script, Counter

use elements_shared::sprintf::general;
use lang::conf::pop_space;
use router::{
    Answer, Call, Class, Config, ConfigError, Cx, Element, ElementName, Handlers, Outcome, Residency,
    Response, Step,
};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("HandlerAggregate", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("handler_aggregate.rs"));

struct HandlerAggregate {
    elements: Vec<ElementName>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut elements = Vec::new();
    config.args().keywords("ELEMENT", &mut elements).finish()?;
    Ok(Box::new(HandlerAggregate { elements }))
}

/// What is wanted of the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Sum,
    Average,
    /// Only that they take a value.
    Write,
}

/// Calls that are under way.
struct Calls {
    handler: String,
    argument: String,
    wanted: Wanted,
    /// Elements that were called.
    called: usize,
    sum: f64,
}

/// The number with which a text begins, 0 if it does not begin with one.
fn leading_number(text: &str) -> f64 {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(text.len());
    (0..=end).rev().find_map(|end| text.get(..end)?.parse().ok()).unwrap_or(0.0)
}

fn start(mut text: &str, wanted: Wanted) -> Outcome {
    let handler = pop_space(&mut text).to_owned();
    Outcome::Start(Box::new(Calls { handler, argument: text.to_owned(), wanted, called: 0, sum: 0.0 }))
}

impl Calls {
    /// The call of an element's handler.
    fn call(&self, element: &ElementName) -> Call {
        let path = format!("{}.{}", element.name, self.handler);
        match self.wanted {
            Wanted::Write => Call::write(path, self.argument.clone()),
            Wanted::Sum | Wanted::Average => Call::read(path, self.argument.clone()),
        }
    }

    /// What is said when all are done, so many.
    fn result(&self, count: usize) -> String {
        match self.wanted {
            Wanted::Sum => general(self.sum),
            Wanted::Average => general(self.sum / count as f64),
            Wanted::Write => String::new(),
        }
    }
}

impl Element for HandlerAggregate {
    fn resume(&mut self, cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        let Some(calls) = state.downcast_mut::<Calls>() else {
            return Step::Done(Err("no calls".into()));
        };
        match answer {
            Answer::Start => {}
            Answer::Response(Response { result: Ok(value), .. }) => calls.sum += leading_number(&value),
            Answer::Response(Response { result: Err(error), .. }) => return Step::Done(Err(error)),
        }
        match self.elements.get(calls.called) {
            Some(element) => {
                calls.called += 1;
                Step::Call(calls.call(element).within(cx.index()))
            }
            None => Step::Done(Ok(calls.result(self.elements.len()))),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read_outcome("add", |_: &mut HandlerAggregate, _, text| start(text, Wanted::Sum));
        h.read_outcome("avg", |_: &mut HandlerAggregate, _, text| start(text, Wanted::Average));
        h.write_outcome("write", |_: &mut HandlerAggregate, _, text| start(text, Wanted::Write));
    }
}

#[cfg(test)]
mod tests {
    use super::leading_number;

    #[test]
    fn reads_the_number_at_the_start_of_a_text() {
        for (text, number) in
            [("12", 12.0), (" -1.5e3 x", -1500.0), ("7e", 7.0), ("x", 0.0), ("", 0.0), ("3é", 3.0)]
        {
            assert_eq!(leading_number(text), number, "{text}");
        }
    }
}
