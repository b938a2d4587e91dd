//! The handlers that an element declares, with the functions that answer.

use crate::context::cx::Cx;
use crate::error::HandlerError;
use crate::handlers::call::Access;
use crate::handlers::declaration::{Declarations, Handler};
use crate::handlers::metric::Metric;
use crate::handlers::response::{HandlerResult, Merge, Response};
use std::any::Any;

pub(crate) type Function = Box<dyn Fn(&mut dyn Any, &mut Cx<'_>, &str) -> Outcome + Send + Sync>;

/// What a handler function comes to.
pub enum Outcome {
    /// A result.
    Done(HandlerResult),
    /// A control computation of the element, with this state, has the result.
    Start(Box<dyn Any + Send>),
    /// A thread has the response: it does what would take a worker long, or has to wait for workers. Whatever called waits for it; packets
    /// and everything else go on meanwhile.
    Aside(Job),
}

/// What a thread does for a handler.
pub type Job = Box<dyn FnOnce() -> Response + Send>;

/// What answers a handler's calls.
#[derive(Default)]
struct Sides {
    read: Option<Function>,
    write: Option<Function>,
}

/// What answers calls of an element's handlers, in the order of their declarations.
#[derive(Default)]
pub(crate) struct Functions {
    named: Vec<Sides>,
    /// Of metrics that are no handlers.
    unnamed: Vec<Function>,
}

impl Functions {
    /// What answers a call of the handler at a place.
    pub(crate) fn of(&self, place: usize, access: Access) -> Option<&Function> {
        let sides = self.named.get(place)?;
        match access {
            Access::Read => sides.read.as_ref(),
            Access::Write => sides.write.as_ref(),
        }
    }

    /// What measures: the handler with this number, or a metric that is none, numbered as [`Declarations::metrics`] does.
    pub(crate) fn measuring(&self, number: usize) -> Option<&Function> {
        match number.checked_sub(self.named.len()) {
            None => self.of(number, Access::Read),
            Some(unnamed) => self.unnamed.get(unnamed),
        }
    }
}

/// The handlers that an element declares.
#[derive(Default)]
pub struct Handlers {
    pub(crate) declared: Declarations,
    pub(crate) functions: Functions,
}

impl Handlers {
    /// The functions of the handler at a place.
    fn sides(&mut self, place: usize) -> &mut Sides {
        let named = &mut self.functions.named;
        if named.len() <= place {
            named.resize_with(place + 1, Sides::default);
        }
        &mut named[place]
    }

    /// A value that can be read.
    pub fn read<E: Any, T: std::fmt::Display>(
        &mut self,
        name: &str,
        f: impl Fn(&mut E, &mut Cx<'_>) -> T + Send + Sync + 'static,
    ) -> &mut Handler {
        self.read_outcome(name, move |e: &mut E, cx, _| Outcome::Done(Ok(f(e, cx).to_string())))
            .take_no_parameter()
    }

    /// A value that can be read with a parameter, which may be empty. A sentence refuses; where the kind of error matters there is
    /// [`Handlers::read_outcome`].
    pub fn read_with<E: Any>(
        &mut self,
        name: &str,
        f: impl Fn(&mut E, &mut Cx<'_>, &str) -> Result<String, String> + Send + Sync + 'static,
    ) -> &mut Handler {
        self.read_outcome(name, move |e: &mut E, cx, text| {
            Outcome::Done(f(e, cx, text).map_err(HandlerError::from))
        })
    }

    /// A value that can be read, perhaps by a control computation.
    pub fn read_outcome<E: Any>(
        &mut self,
        name: &str,
        f: impl Fn(&mut E, &mut Cx<'_>, &str) -> Outcome + Send + Sync + 'static,
    ) -> &mut Handler {
        let place = self.declared.place(name);
        self.sides(place).read = Some(function(f));
        let handler = self.declared.at(place);
        (handler.parameter, handler.reads) = (true, true);
        handler
    }

    /// The handler `count` for what an element counts, over all instances, which is returned, and the button `reset`
    /// that begins again at 0.
    pub fn count<E: Any, N: std::fmt::Display + Default + 'static>(
        &mut self,
        reset: &str,
        count: fn(&mut E) -> &mut N,
    ) -> &mut Handler {
        self.read("count", move |e: &mut E, _| count(e).to_string()).merged(Merge::Sum);
        self.write_outcome(reset, move |e: &mut E, _, _| {
            *count(e) = N::default();
            Outcome::Done(Ok(String::new()))
        })
        .as_button();
        let place = self.declared.place("count");
        self.declared.at(place)
    }

    /// A value that can be written. A sentence refuses; where the kind of error matters there is [`Handlers::write_outcome`].
    pub fn write<E: Any>(
        &mut self,
        name: &str,
        f: impl Fn(&mut E, &mut Cx<'_>, &str) -> Result<(), String> + Send + Sync + 'static,
    ) -> &mut Handler {
        self.write_outcome(name, move |e: &mut E, cx, text| {
            Outcome::Done(f(e, cx, text).map(|()| String::new()).map_err(HandlerError::from))
        })
    }

    /// A value that can be written, perhaps by a control computation.
    pub fn write_outcome<E: Any>(
        &mut self,
        name: &str,
        f: impl Fn(&mut E, &mut Cx<'_>, &str) -> Outcome + Send + Sync + 'static,
    ) -> &mut Handler {
        let place = self.declared.place(name);
        self.sides(place).write = Some(function(f));
        let handler = self.declared.at(place);
        handler.writes = true;
        handler
    }

    /// Something that is measured and has no handler.
    pub fn metric<E: Any, T: std::fmt::Display>(
        &mut self,
        metric: &'static Metric,
        f: impl Fn(&mut E, &mut Cx<'_>) -> T + Send + Sync + 'static,
    ) -> &mut Handler {
        let read =
            function(move |e: &mut E, cx: &mut Cx<'_>, _: &str| Outcome::Done(Ok(f(e, cx).to_string())));
        self.functions.unnamed.push(read);
        self.declared.add_unnamed().measures(metric)
    }
}

fn function<E: Any>(f: impl Fn(&mut E, &mut Cx<'_>, &str) -> Outcome + Send + Sync + 'static) -> Function {
    Box::new(move |target, cx, text| match target.downcast_mut::<E>() {
        Some(element) => f(element, cx, text),
        None => Outcome::Done(Err("handler declared for another element type".into())),
    })
}
