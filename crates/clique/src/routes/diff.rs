//! `clique routes diff`.

use super::file::{self, Reading, hops_json};
use super::trouble::Trouble;
use crate::console;
use crate::report;
use crate::status::Status;
use clap::ValueHint;
use lpm::import::{AnyPrefix, List, NextHops};
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::fmt::Write;

/// Arguments of `clique routes diff`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The file before ('-': standard input).
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    old: String,

    /// The file after.
    #[arg(value_name = "NEW", value_hint = ValueHint::FilePath)]
    new: String,

    /// Do not compare where routes lead, only which prefixes there are.
    #[arg(long)]
    prefixes: bool,
}

/// One difference: a prefix, and where it led and leads.
type Difference = (AnyPrefix, Option<NextHops>, Option<NextHops>);

pub(super) fn run(args: &Args, reading: &Reading, json: bool) -> Result<Status, Trouble> {
    let (old, new) = (file::read(&args.old, reading)?.list, file::read(&args.new, reading)?.list);
    let differences = differences(&old, &new, args.prefixes);
    let count = |wanted: (bool, bool)| {
        differences.iter().filter(|(_, old, new)| (old.is_some(), new.is_some()) == wanted).count()
    };
    let (gone, come, moved) = (count((true, false)), count((false, true)), count((true, true)));
    if json {
        let all: Vec<Value> = differences
            .iter()
            .map(|(prefix, before, after)| {
                json!({
                    "prefix": prefix.to_string(),
                    "old": before.map(|next_hops| hops_json(&old, next_hops)),
                    "new": after.map(|next_hops| hops_json(&new, next_hops)),
                })
            })
            .collect();
        let report = json!({ "differences": all, "removed": gone, "added": come, "changed": moved });
        return Ok(report::print_json(&report));
    }
    let mut text = String::new();
    for &(prefix, before, after) in &differences {
        // Writing to a string cannot fail.
        let _ = match (before, after) {
            (Some(next_hops), None) => writeln!(text, "- {prefix}\t{}", old.describe(next_hops)),
            (None, Some(next_hops)) => writeln!(text, "+ {prefix}\t{}", new.describe(next_hops)),
            (Some(was), Some(is)) => {
                writeln!(text, "~ {prefix}\t{} -> {}", old.describe(was), new.describe(is))
            }
            (None, None) => Ok(()),
        };
    }
    let _ = writeln!(text, "{gone} removed, {come} added, {moved} changed");
    Ok(console::write_result(None, &text))
}

fn differences(old: &List, new: &List, prefixes: bool) -> Vec<Difference> {
    let same = |was: NextHops, is: NextHops| {
        prefixes
            || (old.describe(was) == new.describe(is)
                && (was == NextHops::Nowhere) == (is == NextHops::Nowhere))
    };
    let mut found = Vec::new();
    let (mut before, mut after) = (old.sorted().into_iter().peekable(), new.sorted().into_iter().peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return found,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((was, _)), Some((is, _))) => was.cmp(is),
        };
        let was = if order.is_le() { before.next() } else { None };
        let is = if order.is_ge() { after.next() } else { None };
        match (was, is) {
            (Some((prefix, was)), Some((_, is))) if !same(was, is) => {
                found.push((prefix, Some(was), Some(is)))
            }
            (Some((prefix, was)), None) => found.push((prefix, Some(was), None)),
            (None, Some((prefix, is))) => found.push((prefix, None, Some(is))),
            _ => {}
        }
    }
}
