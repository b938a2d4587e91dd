//! Which configuration is meant, and its text.

use crate::archive::{self, Member};
use crate::console::{self, reason};
use clap::ValueHint;
use std::io::{IsTerminal, Read};

/// A configuration, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A file.
    File(String),
    /// The text itself.
    Expression(String),
    /// Standard input.
    Stdin,
}

/// A configuration's text, and the name that messages give it.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Input {
    /// A file, or standard input if the name is empty or `-`.
    pub(crate) fn named(file: String) -> Input {
        if file.is_empty() || file == "-" { Input::Stdin } else { Input::File(file) }
    }

    /// What messages call it, as in Click.
    pub(crate) fn name(&self) -> &str {
        match self {
            Input::File(file) => file,
            Input::Expression(_) => "config",
            Input::Stdin => "<stdin>",
        }
    }

    /// Reads the text; of an archive, the configuration in it.
    ///
    /// # Errors
    /// Why it cannot be read, with the name.
    pub(crate) fn read(&self) -> Result<Text, String> {
        self.read_with_archive().map(|(text, _)| text)
    }

    /// Reads the text and, of an archive, what else is in it.
    ///
    /// # Errors
    /// Why it cannot be read, with the name.
    pub(crate) fn read_with_archive(&self) -> Result<(Text, Vec<Member>), String> {
        let bytes = match self {
            Input::Expression(text) => Ok(text.clone().into_bytes()),
            Input::File(file) => std::fs::File::open(file).and_then(read_bounded),
            Input::Stdin => read_bounded(std::io::stdin().lock()),
        };
        let name = self.name().to_owned();
        let bytes = bytes.map_err(|error| format!("{name}: {}", reason(&error)))?;
        let (config, others) = if archive::is_archive(&bytes) {
            archive::config(&bytes).map_err(|broken| broken.message(&name))?
        } else {
            (bytes, Vec::new())
        };
        Ok((Text { name, text: lang::bytes::to_text(config) }, others))
    }
}

/// Reads all, but not much more than a configuration may have: what is too long is then refused as any other text.
pub(crate) fn read_bounded(source: impl Read) -> std::io::Result<Vec<u8>> {
    let limit = lang::Limits::default().source as u64 + 1;
    let mut bytes = Vec::new();
    source.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A parameter of the configuration: its name and its value.
pub(crate) type Parameter = (String, String);

/// Reads `NAME=VALUE`; a word of another form is a file's name.
pub(crate) fn parameter(word: &str) -> Option<Parameter> {
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

/// Where required libraries are searched for unless the command line says so.
pub(crate) fn default_clickpath() -> String {
    std::env::var("CLICKPATH").unwrap_or_default()
}

/// The arguments that say which configuration is meant.
#[derive(clap::Args, Debug)]
pub(crate) struct InputArgs {
    /// Configuration file ('-' or none: standard input), and parameters of the configuration.
    #[arg(value_name = "FILE | KEY=VALUE", value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    /// Take CONFIG itself as the configuration.
    #[arg(short = 'e', long, value_name = "CONFIG")]
    expression: Option<String>,

    /// Read the configuration from FILE.
    #[arg(short = 'f', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<String>,

    /// Search these directories, separated by colons, for required libraries [default: $CLICKPATH].
    #[arg(short = 'C', long, value_name = "PATH")]
    clickpath: Option<String>,
}

impl InputArgs {
    /// Where required libraries are searched for.
    pub(crate) fn clickpath(&self) -> String {
        self.clickpath.clone().unwrap_or_else(default_clickpath)
    }

    /// The configuration and its parameters.
    ///
    /// # Errors
    /// That more than one configuration, or one parameter twice, was given.
    pub(crate) fn resolve(&self) -> Result<(Input, Vec<Parameter>), String> {
        let mut inputs = Vec::new();
        let mut parameters: Vec<Parameter> = Vec::new();
        inputs.extend(self.expression.clone().map(Input::Expression));
        inputs.extend(self.file.clone().map(Input::named));
        for word in &self.words {
            match parameter(word) {
                Some((name, _)) if parameters.iter().any(|(known, _)| *known == name) => {
                    return Err(format!("parameter '{name}' is given twice"));
                }
                Some(parameter) => parameters.push(parameter),
                None => inputs.push(Input::named(word.clone())),
            }
        }
        match inputs.len() {
            0 => {
                if std::io::stdin().is_terminal() {
                    console::complain("Reading the configuration from the terminal; '--help' tells more.\n");
                }
                Ok((Input::Stdin, parameters))
            }
            1 => Ok((inputs.remove(0), parameters)),
            _ => Err(format!(
                "more than one configuration is given: {}",
                inputs.iter().map(Input::name).collect::<Vec<_>>().join(", ")
            )),
        }
    }
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
