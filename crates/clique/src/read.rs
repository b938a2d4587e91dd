//! Reading handlers after a run, as the command line asks for it.
//!
//! `ELEMENT.HANDLER` names one; the element may also be a pattern or the name of a class or interface, for all elements that
//! match and have the handler. A name without a dot is a global handler's.

use crate::glob;
use router::{Call, Router};

/// A handler's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// `element.handler`, or the name of a global handler.
    pub(crate) name: String,
    /// What it says.
    pub(crate) value: String,
    /// Whether the name has to be printed, too, because more than one value was asked for.
    pub(crate) named: bool,
}

impl Reading {
    /// The value as it is printed: lines, and between its name and an empty line if there are several.
    pub(crate) fn text(&self) -> String {
        let Reading { name, value, named } = self;
        let end = if value.is_empty() || value.ends_with('\n') { "" } else { "\n" };
        if *named { format!("{name}:\n{value}{end}\n") } else { format!("{value}{end}") }
    }
}

/// Reads all handlers that `requests` name: values and error messages, in order.
pub(crate) fn read_all(router: &mut Router, requests: &[String]) -> Vec<Result<Reading, String>> {
    let several = requests.len() > 1;
    let mut results = Vec::new();
    for request in requests {
        match expand(router, request) {
            Ok((names, many)) => {
                results.extend(names.into_iter().map(|name| read(router, name, several || many)));
            }
            Err(message) => results.push(Err(message)),
        }
    }
    results
}

/// Reads one handler, whose value is to be printed with or without its name.
fn read(router: &mut Router, name: String, named: bool) -> Result<Reading, String> {
    match access(router, &name) {
        None => return Err(format!("no '{name}' handler")),
        Some((false, _)) => return Err(format!("'{name}' is a write handler")),
        Some((true, _)) => {}
    }
    let value = router.call(Call::read(name.as_str(), ""))?;
    Ok(Reading { name, value, named })
}

/// The names of handlers that a request stands for, and whether it may stand for several.
fn expand(router: &mut Router, request: &str) -> Result<(Vec<String>, bool), String> {
    let Some((pattern, handler)) = request.split_once('.') else {
        return Ok((vec![request.to_owned()], false));
    };
    let info = router.info().clone();
    if info.find(pattern, None).is_some() {
        return Ok((vec![request.to_owned()], false));
    }
    let is_pattern = glob::is_pattern(pattern);
    let matching: Vec<&str> = (info.nodes.iter())
        .filter(|node| if is_pattern { glob::matches(&node.name, pattern) } else { node.class.is_a(pattern) })
        .map(|node| node.name.as_str())
        .collect();
    if matching.is_empty() {
        let what = if is_pattern { "no element matching" } else { "no element" };
        return Err(format!("{what} '{pattern}'"));
    }
    let names = matching.into_iter().map(|element| format!("{element}.{handler}"));
    Ok((names.filter(|name| access(router, name).is_some_and(|(read, _)| read)).collect(), true))
}

/// Whether a handler can be read and written; `None` if there is none.
fn access(router: &mut Router, name: &str) -> Option<(bool, bool)> {
    let (list, handler) = match name.split_once('.') {
        Some((element, handler)) => (format!("{element}.handlers"), handler),
        None => ("handlers".to_owned(), name),
    };
    // Lines of a name, a tab and the letters `r` and `w`.
    let list = router.call(Call::read(list, "")).ok()?;
    let (_, flags) =
        list.lines().filter_map(|line| line.split_once('\t')).find(|(name, _)| *name == handler)?;
    Some((flags.contains('r'), flags.contains('w')))
}
