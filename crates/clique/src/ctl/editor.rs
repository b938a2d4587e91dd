//! The prompt with history and completion.

use super::{Session, shell};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::collections::HashMap;

/// Carries out lines that a person types, until they end.
///
/// # Errors
/// Of the terminal, and of the connection when names are asked for.
pub(super) fn run(session: &mut Session, prompt: &str) -> Result<(), String> {
    let failed = |error: ReadlineError| error.to_string();
    let config = Config::builder().completion_type(CompletionType::List).build();
    let mut editor: Editor<Names, MemHistory> =
        Editor::with_history(config, MemHistory::new()).map_err(failed)?;
    editor.set_helper(Some(Names::load(session)?));
    loop {
        let line = match editor.readline(prompt) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        let _ = editor.add_history_entry(line.as_str()); // a line that is not kept is no harm
        if !shell::serve(session, &line) {
            return Ok(());
        }
        // The configuration may have been replaced.
        if line.contains("hotconfig") {
            editor.set_helper(Some(Names::load(session)?));
        }
    }
}

/// The names of a router's elements and handlers, for completion.
struct Names {
    elements: Vec<String>,
    globals: Vec<String>,
    handlers: HashMap<String, Vec<String>>,
}

impl Names {
    fn load(session: &mut Session) -> Result<Names, String> {
        let elements = session.elements()?;
        let globals = session.handlers(None)?.into_iter().map(|(name, _)| name).collect();
        let mut handlers = HashMap::new();
        for element in &elements {
            let names = session.handlers(Some(element))?.into_iter().map(|(name, _)| name).collect();
            handlers.insert(element.clone(), names);
        }
        Ok(Names { elements, globals, handlers })
    }

    /// Where the word before the cursor begins, and what it may become.
    fn candidates(&self, line: &str) -> (usize, Vec<String>) {
        let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let (before, word) = line.split_at(start);
        let mut found: Vec<String> = Vec::new();
        if before.trim().is_empty() {
            found.extend(shell::COMMANDS.iter().map(|&command| command.to_owned()));
        }
        match word.split_once('.') {
            Some((element, _)) => {
                let names = self.handlers.get(element).map_or(&[][..], Vec::as_slice);
                found.extend(names.iter().map(|name| format!("{element}.{name}")));
            }
            None if before.trim_start().starts_with("list") => found.extend(self.elements.iter().cloned()),
            None => {
                found.extend(self.elements.iter().map(|element| format!("{element}.")));
                found.extend(self.globals.iter().cloned());
            }
        }
        found.retain(|name| name.starts_with(word));
        found.sort_unstable();
        (start, found)
    }
}

impl Helper for Names {}

impl Highlighter for Names {}

impl Validator for Names {}

impl Hinter for Names {
    type Hint = String;
}

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.candidates(line.get(..at).unwrap_or(line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_completed() {
        let names = Names {
            elements: vec!["c".into(), "counter".into(), "d/e".into()],
            globals: vec!["config".into(), "list".into()],
            handlers: HashMap::from([("c".to_owned(), vec!["count".into(), "class".into()])]),
        };
        let complete = |line: &str| {
            let (start, found) = names.candidates(line);
            (start, found.join(" "))
        };
        assert_eq!(complete("re"), (0, "read".into()));
        assert_eq!(complete("read c"), (5, "c. config counter.".into()));
        assert_eq!(complete("read c."), (5, "c.class c.count".into()));
        assert_eq!(complete("read c.co"), (5, "c.count".into()));
        assert_eq!(complete("list d"), (5, "d/e".into()));
        assert_eq!(complete("watch a ä d"), (11, "d/e.".into()));
        assert_eq!(complete("read x.").1, "");
    }
}
