//! Several handlers at once, and what handlers mean.

use super::{Session, ended, print_json, rows};
use crate::reply::data;
use crate::{glob, manual};
use serde_json::{Value, json};
use std::fmt::Write;
use std::ops::ControlFlow;

impl Session {
    /// Whether words name several handlers, and not one and its parameter.
    pub(super) fn are_several(&mut self, handler: &str, words: &[String]) -> Result<bool, String> {
        if glob::is_pattern(handler) {
            return Ok(true);
        }
        let Some((element, _)) = handler.split_once('.') else { return Ok(false) };
        // A lookup's parameter has dots, too: only names of elements stand before that of a handler.
        let dotted = !words.is_empty() && words.iter().all(|word| word.contains('.'));
        if words.is_empty() || dotted {
            let names = self.elements()?;
            let is_element = |name: &str| names.iter().any(|known| known == name);
            if !is_element(element) {
                return Ok(words.is_empty() && !self.elements_of(element)?.is_empty());
            }
            let names_element = |word: &String| {
                word.split_once('.').is_some_and(|(e, _)| is_element(e) || glob::is_pattern(e))
            };
            return Ok(dotted && words.iter().all(names_element));
        }
        Ok(false)
    }

    /// The elements of a class, and none for a name that no class of this program has.
    fn elements_of(&mut self, class: &str) -> Result<Vec<String>, String> {
        if self.known.get(class).is_none() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for name in self.elements()? {
            if data(self.client.read(&format!("{name}.class"), ""))? == class {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// The readable handlers that a pattern means, and whether it is one.
    pub(super) fn expand(&mut self, request: &str) -> Result<Vec<(String, bool)>, String> {
        let Some((pattern, handler)) = request.split_once('.') else {
            return Ok(vec![(request.to_owned(), false)]);
        };
        let all = self.elements()?;
        if all.iter().any(|name| name == pattern) && !glob::is_pattern(handler) {
            return Ok(vec![(request.to_owned(), false)]);
        }
        let mut elements: Vec<String> =
            all.into_iter().filter(|name| name == pattern || glob::matches(name, pattern)).collect();
        if elements.is_empty() {
            elements = self.elements_of(pattern)?;
        }
        let mut found = Vec::new();
        for element in elements {
            let handlers = self.handlers(Some(&element))?;
            let meant =
                |(name, flags): &(String, String)| flags.contains('r') && glob::matches(name, handler);
            found.extend(
                handlers.into_iter().filter(meant).map(|(name, _)| (format!("{element}.{name}"), true)),
            );
        }
        if found.is_empty() { Err(format!("no handler '{request}' that can be read")) } else { Ok(found) }
    }

    /// Reads handlers. Those that a pattern means and that say no, for want of a parameter for instance, are left out.
    pub(super) fn read_several(&mut self, handlers: &[(String, bool)]) -> Result<ControlFlow<()>, String> {
        let (mut text, mut list) = (String::new(), Vec::new());
        for (name, of_pattern) in handlers {
            let value = match data(self.client.read(name, "")) {
                Ok(value) => value,
                Err(_) if *of_pattern => continue,
                Err(message) => return Err(message),
            };
            let between = if value.trim_end().contains('\n') { "\n" } else { " " };
            let _ = write!(
                text,
                "{name}:{between}{}",
                if value.is_empty() { "\n".into() } else { ended(&rows::in_order(name, &value)) }
            );
            let mut object = json!({ "name": name, "value": value });
            if let Some(rows) = rows::of(name, &value) {
                object["rows"] = rows;
            }
            list.push(object);
        }
        if self.json { print_json(&json!({ "handlers": list })) } else { super::print(&text) }
    }

    /// Says what an element is for and what its handlers mean, or one of them.
    pub(super) fn describe(&mut self, name: &str) -> Result<ControlFlow<()>, String> {
        let (element, only) = match name.split_once('.') {
            Some((element, handler)) => (element, Some(handler)),
            None => (name, None),
        };
        let class = data(self.client.read(&format!("{element}.class"), ""))?;
        let known = self.known.get(&class);
        let summary = known.map(manual::sentence).unwrap_or_default();
        let mut handlers = self.handlers(Some(element))?;
        if let Some(only) = only {
            handlers.retain(|(name, _)| name == only);
            if handlers.is_empty() {
                return Err(format!("no handler '{name}'"));
            }
        }
        let what =
            |name: &str| known.and_then(|class| manual::handler(class, name)).or_else(|| general(name));
        let width = handlers.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let (mut text, mut list) = (format!("{element} :: {class}\n{summary}\n\n"), Vec::<Value>::new());
        for (name, flags) in &handlers {
            let meaning = what(name).unwrap_or_default();
            let (read, write) = (flags.contains('r'), flags.contains('w'));
            let line = format!("  {name:width$}  {}{}  {meaning}", mark(read, 'r'), mark(write, 'w'));
            text.extend([line.trim_end(), "\n"]);
            list.push(json!({ "name": name, "readable": read, "writable": write, "meaning": meaning }));
        }
        if only.is_none() {
            let _ = writeln!(text, "\nThe manual of the class: clique elements {class}");
        }
        self.show(&json!({ "element": element, "class": class, "summary": summary, "handlers": list }), &text)
    }
}

fn mark(able: bool, letter: char) -> char {
    if able { letter } else { '-' }
}

/// What the handlers mean that all elements have.
fn general(name: &str) -> Option<String> {
    let meaning = match name {
        "class" => "the class",
        "name" => "the name",
        "config" => "the arguments",
        "ports" => "inputs and outputs, and what they are connected to",
        "handlers" => "the handlers",
        "drops" => "packets that the element dropped",
        "drop_reasons" => "packets that the element dropped, by reason",
        "workers" => "the workers that have an instance",
        "scheduled" => "whether the task is to run",
        "tickets" => "the task's share of its worker's time",
        "home_thread" => "the worker that runs the task",
        _ => return None,
    };
    Some(meaning.to_owned())
}
