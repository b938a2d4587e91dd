//! Texts with references, expanded step by step.
//!
//! A reference to a handler, `$(...)`, interrupts the expansion until the handler has answered. A [`Text`] is therefore a
//! small program for a stack of strings, and an [`Expansion`] is where one run of it stands.

use lang::expand::{Form, Part, Parts};

/// A text, taken apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    /// Appends to the string on top of the stack.
    Literal(String),
    /// Pushes an empty string: what the body of a reference expands to.
    Open,
    /// Takes the body of a reference off the stack and appends its value to the string below.
    Refer { form: Form, quoted: bool },
}

/// A run of a text.
#[derive(Debug)]
pub(super) struct Expansion {
    at: usize,
    stack: Vec<String>,
    /// Whether values outside of quotes are put into quotes.
    quote_bare: bool,
    /// The reference whose value is awaited.
    open: Option<(Form, bool, String)>,
}

/// What an expansion comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expanded {
    /// The text.
    Done(String),
    /// It needs the value of a variable; go on with [`Expansion::supply`].
    Variable(String),
    /// It needs the value of a handler call; go on with [`Expansion::supply`].
    Call(String),
}

impl Text {
    pub(super) fn new(text: &str) -> Text {
        let mut compiled = Text::default();
        compiled.add(&Parts::parse(text));
        compiled
    }

    fn add(&mut self, parts: &Parts) {
        for part in parts.parts() {
            match part {
                Part::Literal(text) => self.steps.push(Step::Literal(text.clone())),
                Part::Variable { body, braced, quoted } => {
                    self.refer(body, if *braced { Form::Braced } else { Form::Plain }, *quoted);
                }
                Part::Call { body, quoted } => self.refer(body, Form::Call, *quoted),
            }
        }
    }

    fn refer(&mut self, body: &Parts, form: Form, quoted: bool) {
        self.steps.push(Step::Open);
        self.add(body);
        self.steps.push(Step::Refer { form, quoted });
    }

    /// Whether handlers are called.
    pub(super) fn has_calls(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Refer { form: Form::Call, .. }))
    }
}

impl Expansion {
    pub(super) fn new(quote_bare: bool) -> Expansion {
        Expansion { at: 0, stack: vec![String::new()], quote_bare, open: None }
    }

    /// Runs up to the next reference, or to the end.
    pub(super) fn advance(&mut self, text: &Text) -> Expanded {
        while let Some(step) = text.steps.get(self.at) {
            self.at += 1;
            match step {
                Step::Literal(text) => self.append(text),
                Step::Open => self.stack.push(String::new()),
                Step::Refer { form, quoted } => {
                    let body = self.stack.pop().unwrap_or_default();
                    self.open = Some((*form, *quoted, body.clone()));
                    return if *form == Form::Call { Expanded::Call(body) } else { Expanded::Variable(body) };
                }
            }
        }
        Expanded::Done(self.stack.pop().unwrap_or_default())
    }

    /// Gives the value that was asked for; a reference without a value stays as it is.
    pub(super) fn supply(&mut self, value: Option<String>) {
        let Some((form, quoted, body)) = self.open.take() else { return };
        let text = match value {
            Some(value) if quoted => {
                let quoted = lang::conf::quote_text(&value);
                quoted[1..quoted.len() - 1].to_owned()
            }
            // Inside a reference nothing is quoted.
            Some(value) if self.quote_bare && self.stack.len() == 1 => lang::conf::quote_text(&value),
            Some(value) => value,
            None => match form {
                Form::Plain => format!("${body}"),
                Form::Braced => format!("${{{body}}}"),
                Form::Call => format!("$({body})"),
            },
        };
        self.append(&text);
    }

    fn append(&mut self, text: &str) {
        if let Some(top) = self.stack.last_mut() {
            top.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Expands with variables `a` and `b c`, and calls that answer with their own text in brackets.
    fn expand(text: &str, quote_bare: bool) -> String {
        let compiled = Text::new(text);
        let mut expansion = Expansion::new(quote_bare);
        loop {
            match expansion.advance(&compiled) {
                Expanded::Done(text) => return text,
                Expanded::Variable(name) => expansion.supply((name == "a").then(|| "1 \"".to_owned())),
                Expanded::Call(body) => expansion.supply((body != "no").then(|| format!("[{body}]"))),
            }
        }
    }

    struct Same;

    impl lang::expand::Resolve for Same {
        fn resolve(&mut self, text: &str, form: Form, _depth: usize) -> Option<String> {
            match form {
                Form::Call => (text != "no").then(|| format!("[{text}]")),
                _ => (text == "a").then(|| "1 \"".to_owned()),
            }
        }
    }

    #[test]
    fn nested_references() {
        assert_eq!(expand("x $(f $a $(g ${a}) $b) y", false), "x [f 1 \" [g 1 \"] $b] y");
        assert_eq!(expand("\"$a\" $(no)", true), "\"1 \\\"\" $(no)");
    }

    proptest! {
        /// Step by step comes to the same as at once.
        #[test]
        fn as_the_language_expands(text in r#"[ab$(){}"' \\no]{0,30}"#, quote_bare: bool) {
            let expected = Parts::parse(&text).render(&mut Same, quote_bare);
            prop_assert_eq!(expand(&text, quote_bare), expected);
        }
    }
}
