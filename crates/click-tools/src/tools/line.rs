//! The command line of a tool.

use super::tool::{End, Tool};
use crate::clp::{Item, Items, Spec, Takes};
use crate::host::Host;
use crate::input::{self, Input, Parameter};
use lang::Diagnostic;
use router::Classes;
use std::ffi::OsString;

/// Which option; tools share names, but not all have all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Help,
    Version,
    Clickpath,
    File,
    Expression,
    Output,
    /// Only the configuration, without what else is in the archive.
    Config,
    Classes,
    Declarations,
    Names,
    ExpandVariables,
    Filter,
    Quiet,
    Verbose,
    Userlevel,
    Linux,
    Bsd,
    Assertions,
    Combine,
    Patterns,
    Name,
    Link,
    ClassDocs,
    PackageDocs,
    Define,
    Dot,
    Gml,
    GraphMl,
    Template,
    TemplateText,
    WriteTemplate,
    Flatten,
    Source,
    Reverse,
    Query,
    Print,
    Provide,
    Elementmap,
    /// What is taken and has no meaning here.
    Ignored,
}

pub(super) const HELP: Spec<Id> = Spec::new("help", None, Id::Help, Takes::Nothing);
pub(super) const VERSION: Spec<Id> = Spec::new("version", Some('v'), Id::Version, Takes::Nothing);
pub(super) const CLICKPATH: Spec<Id> = Spec::new("clickpath", Some('C'), Id::Clickpath, Takes::Text);
pub(super) const FILE: Spec<Id> = Spec::new("file", Some('f'), Id::File, Takes::Text);
pub(super) const EXPRESSION: Spec<Id> = Spec::new("expression", Some('e'), Id::Expression, Takes::Text);
/// The kernel's driver, under its two names.
pub(super) const KERNEL: Spec<Id> = Spec::new("kernel", Some('k'), Id::Linux, Takes::Nothing);
pub(super) const LINUX: Spec<Id> = Spec::new("linuxmodule", Some('l'), Id::Linux, Takes::Nothing);
pub(super) const BSD: Spec<Id> = Spec::new("bsdmodule", Some('b'), Id::Bsd, Takes::Nothing);
pub(super) const OUTPUT: Spec<Id> = Spec::new("output", Some('o'), Id::Output, Takes::Text);

/// A command line, as far as all tools read it alike.
#[derive(Clone)]
pub(super) struct Line<'h> {
    pub(super) host: &'h dyn Host,
    pub(super) tool: &'static str,
    /// What is left: options of the tool, files, words.
    pub(super) items: Vec<Item<Id>>,
    pub(super) clickpath: String,
    pub(super) output: Option<String>,
}

/// One configuration, and its parameters.
pub(super) struct Source {
    pub(super) input: Input,
    pub(super) params: Vec<Parameter>,
}

impl Source {
    /// A configuration for which there are no parameters.
    pub(super) fn without_parameters(input: Input) -> Source {
        Source { input, params: Vec::new() }
    }
}

impl<'h> Line<'h> {
    pub(super) fn read(
        tool: &Tool,
        arguments: impl IntoIterator<Item = OsString>,
        host: &'h dyn Host,
    ) -> Result<Line<'h>, End> {
        let mut line = Line {
            host,
            tool: tool.name,
            items: Vec::new(),
            clickpath: input::default_clickpath(),
            output: None,
        };
        for item in Items::new(tool.name, tool.options, arguments).with_plus() {
            match item.map_err(End::Usage)? {
                Item::Option { id: Id::Help, .. } => return Err(End::Printed(tool.long_help())),
                Item::Option { id: Id::Version, .. } => return Err(End::Printed(tool.version())),
                Item::Option { id: Id::Clickpath, value, .. } => line.clickpath = value.unwrap_or_default(),
                Item::Option { id: Id::Output, value, .. } => line.set_output(value.unwrap_or_default())?,
                item => line.items.push(item),
            }
        }
        Ok(line)
    }

    fn set_output(&mut self, file: String) -> Result<(), End> {
        match self.output.replace(file) {
            None => Ok(()),
            Some(_) => Err(End::Usage("output file specified twice".to_owned())),
        }
    }

    /// Whether an option is given, the last time without negation.
    pub(super) fn has(&self, id: Id) -> bool {
        self.setting(id) == Some(true)
    }

    /// What an option that can be negated says, if it is given.
    pub(super) fn setting(&self, id: Id) -> Option<bool> {
        self.items.iter().rev().find_map(|item| match item {
            Item::Option { id: found, negated, .. } if *found == id => Some(!negated),
            _ => None,
        })
    }

    /// Checks that options name one driver at most.
    pub(super) fn one_driver(&self) -> Result<(), End> {
        const DRIVERS: [Id; 3] = [Id::Bsd, Id::Linux, Id::Userlevel];
        let is_driver = |item: &&Item<Id>| matches!(item, Item::Option { id, .. } if DRIVERS.contains(id));
        match self.items.iter().filter(is_driver).count() {
            0 | 1 => Ok(()),
            _ => Err(End::Usage("driver specified twice".to_owned())),
        }
    }

    /// The one configuration that the command line names; standard input if it names none.
    pub(super) fn source(&self) -> Result<Source, End> {
        let mut input = None;
        let mut params: Vec<Parameter> = Vec::new();
        let mut repeated = false;
        for item in &self.items {
            let found = match item {
                Item::Option { id: Id::File, value, .. } => Input::named(value.clone().unwrap_or_default()),
                Item::Option { id: Id::Expression, value, .. } => {
                    Input::Expression(value.clone().unwrap_or_default())
                }
                Item::Option { .. } => continue,
                Item::Word(word) => match input::parameter(word) {
                    None => Input::named(word.clone()),
                    Some((name, _)) if params.iter().any(|(known, _)| *known == name) => {
                        self.say(&format!("parameter '{name}' multiply defined"));
                        repeated = true;
                        continue;
                    }
                    Some(parameter) => {
                        params.push(parameter);
                        continue;
                    }
                },
            };
            if input.replace(found).is_some() {
                return Err(End::Usage("router configuration specified twice".to_owned()));
            }
        }
        if repeated { Err(End::Failed) } else { Ok(Source { input: input.unwrap_or(Input::Stdin), params }) }
    }

    /// The drivers that options ask for and that do not exist here.
    pub(super) fn absent_drivers(&self) -> impl Iterator<Item = &'static str> {
        let drivers = [(Id::Linux, "linuxmodule"), (Id::Bsd, "bsdmodule")];
        drivers.into_iter().filter(|&(driver, _)| self.has(driver)).map(|(_, name)| name)
    }

    /// The element classes that there are.
    pub(super) fn classes(&self) -> &'h Classes {
        self.host.classes()
    }

    /// Says something on standard error, after the tool's name.
    pub(super) fn say(&self, message: &str) {
        self.complain(&format!("{}: {message}", self.tool));
    }

    /// Says something on standard error.
    pub(super) fn complain(&self, message: &str) {
        self.host.complain(&format!("{message}\n"));
    }

    /// Says why the tool fails, after its name.
    pub(super) fn fail(&self, reason: &str) -> End {
        self.say(reason);
        End::Failed
    }

    /// Says what is wrong with a configuration, and odd about it; whether something is wrong.
    pub(super) fn report(&self, found: &[Diagnostic]) -> bool {
        // Bytes that are no text could make a terminal do something.
        self.host.complain(&lang::bytes::without_bytes(&lang::render_click(found)));
        found.iter().any(Diagnostic::is_error)
    }
}
