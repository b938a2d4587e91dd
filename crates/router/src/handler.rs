//! Handlers: named values of elements that people and scripts read and write while the router runs.

use crate::cx::Cx;
use crate::element::Element;
use crate::metric::Metric;
use std::any::Any;

/// The value of a read, or what a write answers; or an error message.
pub type HandlerResult = Result<String, String>;

/// What a call comes to: its result, and what the handler warned of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The result.
    pub result: HandlerResult,
    /// Warnings, as they are shown: in lines, with the word.
    pub warnings: Vec<String>,
    /// The status of a write that failed, unless it is that of most (EINVAL).
    pub status: Option<i64>,
}

impl From<HandlerResult> for Response {
    fn from(result: HandlerResult) -> Response {
        Response { result, warnings: Vec::new(), status: None }
    }
}

impl Response {
    /// Merges the responses of all instances; what several of them warn of is said once.
    pub(crate) fn merged(merge: Merge, responses: impl Iterator<Item = Response>) -> Response {
        let (mut results, mut warnings, mut status) = (Vec::new(), Vec::new(), None);
        for response in responses {
            results.push(response.result);
            status = status.or(response.status);
            for warning in response.warnings {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        Response { result: merge.apply(results), warnings, status }
    }
}

/// The name of a handler that answers to every name that nothing else has. The text that its functions get is the name, a
/// space, and the parameter or value.
pub const ANY: &str = "*";

type Function = Box<dyn Fn(&mut dyn Any, &mut Cx<'_>, &str) -> Outcome + Send + Sync>;

/// What a handler function comes to.
pub enum Outcome {
    /// A result.
    Done(HandlerResult),
    /// A control computation of the element, with this state, has the result.
    Start(Box<dyn Any + Send>),
}

/// How the values that several instances of one element return become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge {
    /// The first instance's.
    #[default]
    First,
    /// The sum of numbers.
    Sum,
    /// One after the other.
    Concatenate,
    /// One after the other, with spaces between.
    Words,
    /// Lines of a number, a tab and a label: the numbers of each label added up, labels in order of appearance.
    Tally,
}

impl Merge {
    /// Merges the values of all instances, in the order of workers. Values that are no numbers do not sum: the first
    /// stands then.
    pub fn apply(self, values: Vec<HandlerResult>) -> HandlerResult {
        let mut values = values.into_iter();
        let Some(first) = values.next() else { return Ok(String::new()) };
        if self == Merge::Tally {
            return std::iter::once(first).chain(values).collect::<Result<Vec<_>, _>>().map(|v| tally(&v));
        }
        let mut merged = first?;
        for value in values {
            let value = value?;
            match self {
                Merge::First | Merge::Tally => {}
                Merge::Concatenate => merged.push_str(&value),
                Merge::Words => merged.extend([" ", &value]),
                Merge::Sum => {
                    if let Some(sum) = add(&merged, &value) {
                        merged = sum;
                    }
                }
            }
        }
        Ok(merged)
    }
}

fn tally(values: &[String]) -> String {
    let mut sums: Vec<(&str, u64)> = Vec::new();
    for line in values.iter().flat_map(|value| value.lines()) {
        let Some((number, label)) = line.split_once('\t') else { continue };
        let number: u64 = number.parse().unwrap_or(0);
        match sums.iter_mut().find(|(known, _)| *known == label) {
            Some((_, sum)) => *sum += number,
            None => sums.push((label, number)),
        }
    }
    sums.iter().map(|(label, sum)| format!("{sum}\t{label}\n")).collect()
}

fn add(a: &str, b: &str) -> Option<String> {
    if let (Ok(a), Ok(b)) = (a.trim().parse::<i128>(), b.trim().parse::<i128>()) {
        return Some((a + b).to_string());
    }
    let (a, b) = (a.trim().parse::<f64>().ok()?, b.trim().parse::<f64>().ok()?);
    Some((a + b).to_string())
}

/// What programs that show handlers to people may want to know of one, besides its sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// Its value is data rather than a line of text.
    pub const RAW: Flags = Flags(1);
    /// Its value hardly ever changes.
    pub const CALM: Flags = Flags(1 << 1);
    /// A read costs much.
    pub const EXPENSIVE: Flags = Flags(1 << 2);
    /// Few people want to see it.
    pub const UNCOMMON: Flags = Flags(1 << 3);
    /// It is there for old programs only.
    pub const DEPRECATED: Flags = Flags(1 << 4);
    /// A write takes no value, is done for its effect.
    pub const BUTTON: Flags = Flags(1 << 5);
    /// Its value is a boolean.
    pub const CHECKBOX: Flags = Flags(1 << 6);

    /// All of them with the letters that Click has for them, in Click's order.
    const LETTERS: [(Flags, char); 7] = [
        (Flags::RAW, '%'),
        (Flags::CALM, '.'),
        (Flags::EXPENSIVE, '$'),
        (Flags::UNCOMMON, 'U'),
        (Flags::DEPRECATED, 'D'),
        (Flags::BUTTON, 'b'),
        (Flags::CHECKBOX, 'c'),
    ];

    /// Whether all of `flags` are set.
    pub fn contains(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Click's letters.
impl std::fmt::Display for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut set = Flags::LETTERS.iter().filter(|(flag, _)| self.contains(*flag));
        set.try_for_each(|(_, letter)| write!(f, "{letter}"))
    }
}

/// One handler: its sides and what is known about it.
pub struct Handler {
    /// Its name, without the element's.
    pub name: String,
    /// How values of several instances merge.
    pub merge: Merge,
    /// Whether a read takes a parameter.
    pub parameter: bool,
    /// What those who show it may want to know.
    pub flags: Flags,
    /// Whether it is for this program alone: not to be offered to others over the network.
    pub private: bool,
    /// Whether a write concerns every instance although they have a shared part.
    pub everywhere: bool,
    /// The argument that a write changes, if it has another name than the handler.
    pub argument: Option<&'static str>,
    /// What its value measures.
    pub metric: Option<&'static Metric>,
    pub(crate) read: Option<Function>,
    pub(crate) write: Option<Function>,
}

impl Handler {
    fn new(name: &str) -> Handler {
        Handler {
            name: name.to_owned(),
            merge: Merge::First,
            parameter: false,
            flags: Flags::default(),
            private: false,
            everywhere: false,
            argument: None,
            metric: None,
            read: None,
            write: None,
        }
    }

    /// Whether it can be read.
    pub fn readable(&self) -> bool {
        self.read.is_some()
    }

    /// Whether it can be written.
    pub fn writable(&self) -> bool {
        self.write.is_some()
    }
}

/// The handlers that an element declares.
#[derive(Default)]
pub struct Handlers {
    list: Vec<Handler>,
    /// Metrics that are no handlers.
    unnamed: Vec<Handler>,
}

impl Handlers {
    /// The handler with this name, made if it is new.
    fn entry(&mut self, name: &str) -> &mut Handler {
        let at = self.list.iter().position(|h| h.name == name).unwrap_or_else(|| {
            self.list.push(Handler::new(name));
            self.list.len() - 1
        });
        &mut self.list[at]
    }

    /// A value that can be read.
    pub fn read<E: Any, T: std::fmt::Display>(
        &mut self,
        name: &str,
        f: impl Fn(&mut E, &mut Cx<'_>) -> T + Send + Sync + 'static,
    ) -> &mut Handler {
        self.read_with(name, move |e: &mut E, cx, _| Ok(f(e, cx).to_string())).take_no_parameter()
    }

    /// A value that can be read with a parameter, which may be empty.
    pub fn read_with<E: Any>(
        &mut self,
        name: &str,
        f: impl Fn(&mut E, &mut Cx<'_>, &str) -> HandlerResult + Send + Sync + 'static,
    ) -> &mut Handler {
        self.read_outcome(name, move |e: &mut E, cx, text| Outcome::Done(f(e, cx, text)))
    }

    /// A value that can be read, perhaps by a control computation.
    pub fn read_outcome<E: Any>(
        &mut self,
        name: &str,
        f: impl Fn(&mut E, &mut Cx<'_>, &str) -> Outcome + Send + Sync + 'static,
    ) -> &mut Handler {
        let handler = self.entry(name);
        handler.parameter = true;
        handler.read = Some(function(f));
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
        self.write(reset, move |e: &mut E, _, _| {
            *count(e) = N::default();
            Ok(())
        })
        .as_button();
        self.entry("count")
    }

    /// A value that can be written.
    pub fn write<E: Any>(
        &mut self,
        name: &str,
        f: impl Fn(&mut E, &mut Cx<'_>, &str) -> Result<(), String> + Send + Sync + 'static,
    ) -> &mut Handler {
        self.write_outcome(name, move |e: &mut E, cx, text| {
            Outcome::Done(f(e, cx, text).map(|()| String::new()))
        })
    }

    /// A value that can be written, perhaps by a control computation.
    pub fn write_outcome<E: Any>(
        &mut self,
        name: &str,
        f: impl Fn(&mut E, &mut Cx<'_>, &str) -> Outcome + Send + Sync + 'static,
    ) -> &mut Handler {
        let handler = self.entry(name);
        handler.write = Some(function(f));
        handler
    }

    /// Something that is measured and has no handler.
    pub fn metric<E: Any, T: std::fmt::Display>(
        &mut self,
        metric: &'static Metric,
        f: impl Fn(&mut E, &mut Cx<'_>) -> T + Send + Sync + 'static,
    ) -> &mut Handler {
        let mut handler = Handler::new("");
        handler.read = Some(function(move |e: &mut E, cx: &mut Cx<'_>, _: &str| {
            Outcome::Done(Ok(f(e, cx).to_string()))
        }));
        self.unnamed.push(handler);
        let last = self.unnamed.len() - 1;
        self.unnamed[last].measures(metric)
    }

    /// What is measured: handlers that say so, and metrics that are none.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = (&'static Metric, &Handler)> {
        let all = self.list.iter().chain(&self.unnamed);
        all.filter_map(|handler| handler.metric.map(|metric| (metric, handler)))
    }

    /// The handlers declared so far.
    pub fn list(&self) -> &[Handler] {
        &self.list
    }

    /// The handler with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|h| h.name == name)
    }
}

impl Handler {
    /// Says how values of several instances become one.
    pub fn merged(&mut self, merge: Merge) -> &mut Handler {
        self.merge = merge;
        self
    }

    /// Says what its value measures, so that it is found among the router's metrics.
    pub fn measures(&mut self, metric: &'static Metric) -> &mut Handler {
        self.metric = Some(metric);
        self
    }

    /// Says that a write takes no value.
    pub fn as_button(&mut self) -> &mut Handler {
        self.flagged(Flags::BUTTON)
    }

    /// Says what those who show it may want to know.
    pub fn flagged(&mut self, flags: Flags) -> &mut Handler {
        self.flags = self.flags | flags;
        self
    }

    /// Says that the handler is not to be offered over the network.
    pub fn as_private(&mut self) -> &mut Handler {
        self.private = true;
        self
    }

    /// Says that a write is for every instance. It is anyway where instances share nothing; where they have a shared part,
    /// the first instance alone performs a write unless this is said.
    pub fn to_everywhere(&mut self) -> &mut Handler {
        self.everywhere = true;
        self
    }

    /// Says which argument a write changes, where it is not the handler's namesake: the configuration string follows.
    pub fn of_argument(&mut self, name: &'static str) -> &mut Handler {
        self.argument = Some(name);
        self
    }

    /// Says that what is written is secret: the configuration string, which others can read, does not follow, although an argument has the
    /// handler's name.
    pub fn as_secret(&mut self) -> &mut Handler {
        self.argument = Some(""); // which no argument is called
        self
    }

    fn take_no_parameter(&mut self) -> &mut Handler {
        self.parameter = false;
        self
    }
}

fn function<E: Any>(f: impl Fn(&mut E, &mut Cx<'_>, &str) -> Outcome + Send + Sync + 'static) -> Function {
    Box::new(move |target, cx, text| match target.downcast_mut::<E>() {
        Some(element) => f(element, cx, text),
        None => Outcome::Done(Err("handler declared for another element type".to_owned())),
    })
}

/// What the handlers of an element work on.
pub(crate) fn target(element: &mut dyn Element) -> &mut dyn Any {
    // Asked twice because a borrow that is returned on one path only would last on the other, too.
    if element.target().is_some() {
        if let Some(inner) = element.target() {
            return inner;
        }
        unreachable!("an element's target does not change between two calls");
    }
    element
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_click_s_letters() {
        let all = Flags::LETTERS.iter().rev().fold(Flags::default(), |all, (flag, _)| all | *flag);
        assert_eq!(all.to_string(), "%.$UDbc");
        assert_eq!((Flags::CHECKBOX | Flags::CALM).to_string(), ".c");
        assert!(all.contains(Flags::RAW | Flags::BUTTON) && !Flags::RAW.contains(Flags::RAW | Flags::BUTTON));
    }

    #[test]
    fn values_merge_as_declared() {
        let merge =
            |how: Merge, values: &[&str]| how.apply(values.iter().map(|v| Ok((*v).to_owned())).collect());
        assert_eq!(merge(Merge::Sum, &["1", "41"]).as_deref(), Ok("42"));
        assert_eq!(merge(Merge::Sum, &["0.5", "1"]).as_deref(), Ok("1.5"));
        assert_eq!(merge(Merge::First, &["a", "b"]).as_deref(), Ok("a"));
        assert_eq!(merge(Merge::Concatenate, &["a\n", "b\n"]).as_deref(), Ok("a\nb\n"));
        assert_eq!(merge(Merge::Words, &["1", "0.5"]).as_deref(), Ok("1 0.5"));
        let tallied = merge(Merge::Tally, &["1\tx\n2\ty\n", "", "3\ty\n4\tz\n"]);
        assert_eq!(tallied.as_deref(), Ok("1\tx\n5\ty\n4\tz\n"));
        assert_eq!(Merge::Sum.apply(vec![Ok("1".into()), Err("no".into())]), Err("no".into()));
    }
}
