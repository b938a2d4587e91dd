//! `click-xform`: a configuration in which patterns are replaced.

use super::line::{EXPRESSION, FILE, HELP, Id, Line, OUTPUT, Source, VERSION};
use super::load::{Reader, load, read, write};
use super::tool::{End, Tool};
use crate::clp::{Item, Spec, Takes};
use crate::input::{self, Input};
use crate::transform::{Pattern, xform};

pub(super) const TOOL: Tool = Tool {
    name: "click-xform",
    usage: "[OPTION]... [ROUTERFILE] [PATTERNFILE]...",
    about: "\
Replaces patterns in a configuration until none is found, and prints the result.
Patterns are pairs of compound element classes X and X_Replacement.
",
    help: "  -p, --patterns PATTERNFILE    Read patterns from PATTERNFILE, too.
  -r, --reverse                 Replace replacements by patterns.
",
    options: &[
        EXPRESSION,
        FILE,
        HELP,
        OUTPUT,
        Spec::new("patterns", Some('p'), Id::Patterns, Takes::Text),
        Spec::new("reverse", Some('r'), Id::Reverse, Takes::Nothing).negatable(),
        VERSION,
    ],
    run,
};

/// Replacements that a configuration may take: patterns that make each other would go on for ever.
const REPLACEMENTS: usize = 100_000;

/// What the name of a replacement has behind that of its pattern.
const REPLACEMENT: &str = "_Replacement";

fn run(line: &Line<'_>) -> Result<(), End> {
    let (source, files) = arguments(line)?;
    let mut patterns = Vec::new();
    for file in &files {
        patterns.extend(read_patterns(line, file)?);
    }
    let loaded = load(line, &source)?;
    if files.is_empty() {
        line.complain("warning: no patterns read");
    }
    if line.has(Id::Reverse) {
        patterns = reversed(patterns);
    }
    match xform(&loaded.graph, &patterns, REPLACEMENTS) {
        Ok(graph) => write(line, &graph, &loaded.archive),
        Err(name) => Err(line.fail(&format!(
            "no end after {REPLACEMENTS} replacements: is what '{name}' makes replaced again?"
        ))),
    }
}

/// The patterns the other way round, the last one first. The names stay where they are, as in Click.
fn reversed(patterns: Vec<Pattern>) -> Vec<Pattern> {
    let names: Vec<String> = patterns.iter().map(|pattern| pattern.name.clone()).collect();
    (names.into_iter().zip(patterns.into_iter().rev()))
        .map(|(name, Pattern { pattern, replacement, .. })| Pattern {
            name,
            pattern: replacement,
            replacement: pattern,
        })
        .collect()
}

/// The configuration, which is the first word unless an option names it, and the files with patterns.
fn arguments(line: &Line<'_>) -> Result<(Source, Vec<String>), End> {
    let is_named = |item: &Item<Id>| matches!(item, Item::Option { id: Id::File | Id::Expression, .. });
    let mut named = line.items.iter().any(is_named);
    let (mut files, mut others) = (Vec::new(), Vec::new());
    for item in line.items.clone() {
        match item {
            Item::Option { id: Id::Patterns, value, .. } => files.extend(value),
            Item::Word(word) if input::parameter(&word).is_none() && named => files.push(word),
            item => {
                named |= matches!(&item, Item::Word(word) if input::parameter(word).is_none());
                others.push(item);
            }
        }
    }
    let source = Line { items: others, ..line.clone() }.source()?;
    Ok((source, files))
}

/// Reads the pairs of a file, in the order of the replacements.
fn read_patterns(line: &Line<'_>, file: &str) -> Result<Vec<Pattern>, End> {
    let (text, _) = read(line, &Input::named(file.to_owned()))?;
    let found = Reader::new(line, &[]).compounds(&text);
    if line.report(&found.diagnostics) {
        return Err(End::Failed);
    }
    let graph = |name: &str| Some(&found.compounds.iter().find(|compound| compound.name == name)?.graph);
    let pair = |replacement: &lang::Compound| {
        let name = replacement.name.strip_suffix(REPLACEMENT)?;
        let (pattern, replacement) = (graph(name)?.clone(), replacement.graph.clone());
        Some(Pattern { name: name.to_owned(), pattern, replacement })
    };
    Ok(found.compounds.iter().filter_map(pair).collect())
}
