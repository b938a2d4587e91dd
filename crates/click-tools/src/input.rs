//! Which configuration is meant.

/// A configuration, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(String),
    /// The text itself.
    Expression(String),
    /// Standard input.
    Stdin,
}

/// A configuration's text, and the name that messages give it.
#[derive(Clone, Debug)]
pub struct Text {
    /// The name.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Input {
    /// A file, or standard input if the name is empty or `-`.
    pub fn named(file: String) -> Input {
        if file.is_empty() || file == "-" { Input::Stdin } else { Input::File(file) }
    }

    /// What messages call it, as in Click.
    pub fn name(&self) -> &str {
        match self {
            Input::File(file) => file,
            Input::Expression(_) => "config",
            Input::Stdin => "<stdin>",
        }
    }
}

/// A parameter of the configuration: its name and its value.
pub type Parameter = (String, String);

/// Reads `NAME=VALUE`; a word of another form is a file's name.
pub fn parameter(word: &str) -> Option<Parameter> {
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

/// Where required libraries are searched for unless the command line says so.
pub fn default_clickpath() -> String {
    std::env::var("CLICKPATH").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path with an equals sign is still a file.
    #[test]
    fn parameters_have_names() {
        assert_eq!(parameter("A_1=b=c"), Some(("A_1".into(), "b=c".into())));
        assert_eq!(parameter("A="), Some(("A".into(), String::new())));
        for word in ["=x", "dir/a=b", "a", "$A=1"] {
            assert_eq!(parameter(word), None, "{word}");
        }
    }
}
