//! Which configuration is meant, and its text.

use crate::console::{self, reason};
use clap::ValueHint;
use click_tools::archive::{self, Member};
use click_tools::{Input, Parameter, Text, default_clickpath, parameter};
use std::io::{IsTerminal, Read};

/// Reads a configuration's text; of an archive, the configuration in it.
///
/// # Errors
/// Why it cannot be read, with the name.
pub(crate) fn read(input: &Input) -> Result<Text, String> {
    read_with_archive(input).map(|(text, _)| text)
}

/// Reads a configuration's text and, of an archive, what else is in it.
///
/// # Errors
/// Why it cannot be read, with the name.
pub(crate) fn read_with_archive(input: &Input) -> Result<(Text, Vec<Member>), String> {
    let bytes = match input {
        Input::Expression(text) => Ok(text.clone().into_bytes()),
        Input::File(file) => std::fs::File::open(file).and_then(read_bounded),
        Input::Stdin => read_bounded(std::io::stdin().lock()),
    };
    let name = input.name().to_owned();
    let bytes = bytes.map_err(|error| format!("{name}: {}", reason(&error)))?;
    let (config, others) = if archive::is_archive(&bytes) {
        archive::config(&bytes).map_err(|broken| broken.message(&name))?
    } else {
        (bytes, Vec::new())
    };
    Ok((Text { name, text: lang::bytes::to_text(config) }, others))
}

/// Reads all, but not much more than a configuration may have: what is too long is then refused as any other text.
pub(crate) fn read_bounded(source: impl Read) -> std::io::Result<Vec<u8>> {
    let limit = lang::Limits::default().source as u64 + 1;
    let mut bytes = Vec::new();
    source.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
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
                    console::show("Reading the configuration from the terminal; '--help' tells more.\n");
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
