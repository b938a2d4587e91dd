//! Variables in configuration strings: `$name`, `${...}` and `$(...)`.
//!
//! A text is first taken apart into [`Parts`] and then put together again with the values that a
//! [`Resolve`] supplies. The configuration loader supplies variables; a script that runs later
//! supplies handler values as well, with the same parts.

use crate::conf;

/// How deep references may nest before they are left as they are.
pub const MAX_NESTING: usize = 10;

/// Bytes that [`expand`] may produce on the way before it leaves references as they are.
const MAX_BYTES: usize = 1 << 24;

/// What a variable that stands in its own value costs of that, each time: those that double themselves end soon.
const LOOP_COST: usize = 1 << 12;

/// How a reference is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `$name`, `$1`, `$?`, `$#` or `$$`.
    Plain,
    /// `${...}`.
    Braced,
    /// `$(...)`.
    Call,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text that stands for itself, quotes included.
    Literal(String),
    /// `$name` or `${...}`.
    Variable {
        /// The name, or what stands between the braces.
        body: Parts,
        /// Whether it has braces.
        braced: bool,
        /// Whether it stands inside double quotes.
        quoted: bool,
    },
    /// `$(...)`.
    Call {
        /// What stands between the parentheses.
        body: Parts,
        /// Whether it stands inside double quotes.
        quoted: bool,
    },
}

/// Supplies the values of references.
pub trait Resolve {
    /// The value of the reference whose body is `text`, or nothing to leave it as it is.
    ///
    /// `depth` counts the references around this one; a caller that expands the value itself passes `depth + 1`
    /// to [`Parts::parse_at`], so that variables that contain themselves come to an end.
    fn resolve(&mut self, text: &str, form: Form, depth: usize) -> Option<String>;
}

/// A text taken apart at its references.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parts {
    parts: Vec<Part>,
    depth: usize,
}

impl Parts {
    /// Takes `text` apart. References inside single quotes and comments are not references.
    pub fn parse(text: &str) -> Self {
        Self::parse_at(text, 0)
    }

    /// Like [`parse`](Self::parse) for a text inside `depth` references.
    pub fn parse_at(text: &str, depth: usize) -> Self {
        if depth > MAX_NESTING || !text.contains('$') {
            return Self::literal(text, depth);
        }
        Scanner { text, s: text.as_bytes(), depth, parts: Vec::new(), from: 0 }.run()
    }

    fn literal(text: &str, depth: usize) -> Self {
        let parts = if text.is_empty() { Vec::new() } else { vec![Part::Literal(text.to_owned())] };
        Self { parts, depth }
    }

    /// The pieces in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The text, if it has no references.
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Puts the text together with values for its references.
    ///
    /// A value inside double quotes is escaped so that it stays inside. If `quote_bare` is set, a
    /// value outside of quotes is put in quotes, so that it stays one word.
    pub fn render(&self, resolver: &mut dyn Resolve, quote_bare: bool) -> String {
        let mut out = String::new();
        for part in &self.parts {
            let (body, form, quoted) = match part {
                Part::Literal(text) => {
                    out.push_str(text);
                    continue;
                }
                Part::Variable { body, braced: false, quoted } => (body, Form::Plain, *quoted),
                Part::Variable { body, braced: true, quoted } => (body, Form::Braced, *quoted),
                Part::Call { body, quoted } => (body, Form::Call, *quoted),
            };
            let text = body.render(resolver, false);
            match resolver.resolve(&text, form, self.depth) {
                // It stands for itself: the reference stays.
                Some(value) if quoted && value.strip_prefix('$') == Some(&text) => out.push_str(&value),
                Some(value) if quoted => {
                    let value = conf::quote_text(&value);
                    out.push_str(&value[1..value.len() - 1]);
                }
                Some(value) if quote_bare => out.push_str(&conf::quote_text(&value)),
                Some(value) => out.push_str(&value),
                None => {
                    let (open, close) = match form {
                        Form::Plain => ("$", ""),
                        Form::Braced => ("${", "}"),
                        Form::Call => ("$(", ")"),
                    };
                    out.push_str(open);
                    out.push_str(&text);
                    out.push_str(close);
                }
            }
        }
        out
    }
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

struct Scanner<'a> {
    text: &'a str,
    s: &'a [u8],
    depth: usize,
    parts: Vec<Part>,
    /// Start of the literal text that is not yet in `parts`.
    from: usize,
}

impl Scanner<'_> {
    fn run(mut self) -> Parts {
        let s = self.s;
        let mut quote = 0;
        let mut i = 0;
        while i < s.len() {
            match s[i] {
                b'\\' if quote == b'"' => i += 1,
                b @ (b'"' | b'\'') if quote == 0 => quote = b,
                b if quote != 0 && b == quote => quote = 0,
                b'/' if quote == 0 && matches!(s.get(i + 1), Some(b'/' | b'*')) => {
                    i = conf::skip_blank(s, i);
                    continue;
                }
                b'$' if quote != b'\'' && i + 1 < s.len() => match self.reference(i, quote == b'"') {
                    Some(Ok(end)) => {
                        i = end;
                        continue;
                    }
                    // An opener without its closer: the rest is literal.
                    Some(Err(())) => break,
                    None => {}
                },
                _ => {}
            }
            i += 1;
        }
        self.flush(s.len());
        Parts { parts: self.parts, depth: self.depth }
    }

    fn flush(&mut self, to: usize) {
        if self.from < to {
            self.parts.push(Part::Literal(self.text[self.from..to].to_owned()));
        }
    }

    /// Reads the reference at the dollar sign `i`; gives its end.
    fn reference(&mut self, i: usize, quoted: bool) -> Option<Result<usize, ()>> {
        let s = self.s;
        let (start, end, after, nested, form) = match s[i + 1] {
            b'{' => {
                let Some(n) = s[i + 2..].iter().position(|&b| b == b'}') else { return Some(Err(())) };
                let end = i + 2 + n;
                (i + 2, end, end + 1, s[i + 2..end].contains(&b'$'), Form::Braced)
            }
            b'(' => {
                let Some((end, nested)) = call_end(s, i + 2) else { return Some(Err(())) };
                (i + 2, end, end + 1, nested, Form::Call)
            }
            b if is_name(b) => {
                let n = s[i + 1..].iter().take_while(|&&b| is_name(b)).count();
                (i + 1, i + 1 + n, i + 1 + n, false, Form::Plain)
            }
            b'?' | b'#' | b'$' => (i + 1, i + 2, i + 2, false, Form::Plain),
            _ => return None,
        };
        self.flush(i);
        self.from = after;
        let inner = &self.text[start..end];
        let body = if nested {
            Parts::parse_at(inner, self.depth + 1)
        } else {
            Parts::literal(inner, self.depth + 1)
        };
        self.parts.push(match form {
            Form::Call => Part::Call { body, quoted },
            _ => Part::Variable { body, braced: form == Form::Braced, quoted },
        });
        Some(Ok(after))
    }
}

/// The end of the call whose text starts at `i`, and whether it contains references.
fn call_end(s: &[u8], mut i: usize) -> Option<(usize, bool)> {
    let (mut level, mut quote, mut nested) = (1, 0, false);
    while i < s.len() {
        match s[i] {
            b'(' if quote == 0 => level += 1,
            b')' if quote == 0 => {
                level -= 1;
                if level == 0 {
                    return Some((i, nested));
                }
            }
            b @ (b'"' | b'\'') if quote == 0 => quote = b,
            b if quote != 0 && b == quote => quote = 0,
            b'\\' if quote != b'\'' => i += 1,
            b'$' if quote != b'\'' => nested = true,
            _ => {}
        }
        i += 1;
    }
    None
}

/// What stands between the braces of `${name[index]-default}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Braced<'a> {
    /// Name of the variable.
    pub name: &'a str,
    /// Which word of the value is meant, from 0, if not all.
    pub word: Option<usize>,
    /// The value if there is no such variable.
    pub default: Option<&'a str>,
}

impl<'a> Braced<'a> {
    /// Reads the text between the braces. Anything that does not fit is ignored, as in Click.
    pub fn parse(text: &'a str) -> Self {
        let space = |c: char| c.is_ascii() && conf::is_space(c as u8);
        let text = text.trim_start_matches(space);
        let len = text.bytes().take_while(|&b| is_name(b)).count();
        let (name, after) = text.split_at(len);
        let after = after.trim_start_matches(space);
        let (word, after) = match Self::index(after) {
            Some((word, rest)) => (Some(word), rest.trim_start_matches(space)),
            None => (None, after),
        };
        Self { name, word, default: after.strip_prefix('-') }
    }

    fn index(text: &str) -> Option<(usize, &str)> {
        let inner = text.strip_prefix('[')?.trim_start();
        let (digits, rest) = inner.split_once(']')?;
        Some((digits.parse().ok()?, rest))
    }

    /// The word of `value` that is meant.
    pub fn select(&self, value: String) -> String {
        match self.word {
            None => value,
            Some(n) => conf::split_spaces(&value).into_iter().nth(n).unwrap_or_default(),
        }
    }
}

/// Resolves names by a function, expanding values in turn, within a budget of bytes.
struct Variables<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    /// Bytes that may still be produced; 0 once they did not suffice.
    budget: &'a mut usize,
    /// The variables within whose values this is, outermost first.
    within: Vec<String>,
    /// The first variable that was met within its own value.
    looped: Option<String>,
}

impl Variables<'_> {
    fn expand_at(&mut self, text: &str, depth: usize) -> Option<String> {
        self.spend(text.len() + 1)?;
        Some(Parts::parse_at(text, depth).render(self, false))
    }

    fn spend(&mut self, bytes: usize) -> Option<()> {
        let left = self.budget.checked_sub(bytes);
        *self.budget = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// The value of a variable with the variables in it replaced.
    fn value(&mut self, name: &str, value: &str, depth: usize) -> Option<String> {
        // Another reader replaces it, as with the parameters of bodies that are looked at by themselves.
        if value.strip_prefix('$') == Some(name) {
            return Some(value.to_owned());
        }
        if self.within.iter().any(|outer| outer == name) {
            self.looped.get_or_insert_with(|| name.to_owned());
            self.spend(LOOP_COST)?;
        }
        self.within.push(name.to_owned());
        let expanded = self.expand_at(value, depth + 1);
        self.within.pop();
        expanded
    }
}

impl Resolve for Variables<'_> {
    fn resolve(&mut self, text: &str, form: Form, depth: usize) -> Option<String> {
        if *self.budget == 0 {
            return None;
        }
        if form != Form::Braced {
            let value = (self.lookup)(text)?;
            return self.value(text, &value, depth);
        }
        let reference = Braced::parse(text);
        match ((self.lookup)(reference.name), reference.default) {
            (Some(value), _) => Some(reference.select(self.value(reference.name, &value, depth)?)),
            (None, Some(default)) => self.expand_at(default, depth + 1),
            (None, None) => None,
        }
    }
}

/// What became of a text.
pub(crate) struct Expanded {
    pub(crate) text: String,
    /// A variable that stands in its own value, perhaps by way of others.
    pub(crate) looped: Option<String>,
}

/// Expands text, as [`expand`], but counts what it produces against `budget`, which is 0 if it did not suffice.
pub(crate) fn expand_within(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
    budget: &mut usize,
) -> Expanded {
    if !text.contains('$') {
        return Expanded { text: text.to_owned(), looped: None };
    }
    let mut variables = Variables { lookup, budget, within: Vec::new(), looped: None };
    let expanded = variables.expand_at(text, 0).unwrap_or_else(|| text.to_owned());
    Expanded { text: expanded, looped: variables.looped }
}

/// Replaces the variables in `text` that `lookup` knows and leaves all others as they are.
///
/// Values are expanded in turn. `$(...)` is replaced only if the whole text between the parentheses
/// is a variable's name, so that handler calls stay for the element that runs them.
pub fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> String {
    expand_within(text, lookup, &mut { MAX_BYTES }).text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<String> {
        let value = match name {
            "a" => "100",
            "b" => "$a,$a",
            "q" => "say \"hi\"",
            "w" => "one two three",
            "loop" => "x$loop",
            "bomb" => "$bomb$bomb$bomb$bomb$bomb$bomb$bomb$bomb",
            "name" => "a",
            _ => return None,
        };
        Some(value.to_owned())
    }

    #[test]
    fn variables_are_replaced_outside_of_single_quotes_and_comments() {
        for (text, expected) in [
            ("plain", "plain"),
            ("$a $b ${a}x $ax", "100 100,100 100x $ax"),
            ("'$a' \"$a\" \"\\$a\"", "'$a' \"100\" \"\\$a\""),
            ("\"$q\" $q", "\"say \\\"hi\\\"\" say \"hi\""),
            ("${x-default} ${x-$a} ${a-no}", "default 100 100"),
            ("${w[1]}|${ w [0] }|${w[7]}", "two|one|"),
            ("$(c.count) $(c.set $a) $(a)", "$(c.count) $(c.set 100) 100"),
            ("$(f ')' $a) '$(g $a)'", "$(f ')' 100) '$(g $a)'"),
            ("${$name}", "100"),
            ("$a /* $a ' */ $a // \"$a\n$a", "100 /* $a ' */ 100 // \"$a\n100"),
            ("${a", "${a"),
            ("$(a $a", "$(a $a"),
            ("$ $$ $? $# $", "$ $$ $? $# $"),
            ("é$aé", "é100é"),
        ] {
            assert_eq!(expand(text, &lookup), expected, "{text}");
        }
    }

    #[test]
    fn self_reference_ends() {
        assert_eq!(expand("$loop", &lookup), format!("{}$loop", "x".repeat(11)));
        // Not 8 ^ 10 times.
        assert!(expand("$bomb", &lookup).len() <= 100 * MAX_BYTES / LOOP_COST);
    }

    #[test]
    fn calls_keep_their_quoting() {
        struct Handlers;
        impl Resolve for Handlers {
            fn resolve(&mut self, text: &str, form: Form, _: usize) -> Option<String> {
                (form == Form::Call).then(|| format!("<{text} \"x\">"))
            }
        }
        let parts = Parts::parse("print \"$(a.b)\" $(c $(d)) $e");
        assert_eq!(parts.render(&mut Handlers, false), "print \"<a.b \\\"x\\\">\" <c <d \"x\"> \"x\"> $e");
        assert_eq!(Parts::parse("$(x)").render(&mut Handlers, true), "\"<x \\\"x\\\">\"");
    }
}
