//! `clique reload --shadow`: a reload that is made only if the new configuration makes of live packets what the running one does.

use super::request::{Answer, Load, Request};
use super::shadow::{self, Report, Source};
use super::{Args, Manner, complain, send, show};
use crate::address::Address;
use crate::console;
use crate::report;
use crate::status::Status;
use click_tools::Text;
use router::Classes;
use serde_json::{Value, json};
use std::time::Duration;

/// How long packets are recorded, at most.
const SPAN_MAX: Duration = Duration::from_secs(3_600);

/// Reads for how long packets are to be recorded: a time as in configurations.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    let span = router::parse_time(text).and_then(|ns| u64::try_from(ns).ok()).map(Duration::from_nanos);
    let is_fine = |span: &Duration| (Duration::from_secs(1)..=SPAN_MAX).contains(span);
    span.filter(is_fine).ok_or_else(|| "a time of 1s to 1h is expected".to_owned())
}

/// Runs a reload with a shadow.
pub(super) fn run(args: &Args, manner: &Manner, load: Load, span: Duration, known: &Classes) -> Status {
    match rehearse(args, manner, load, span, known) {
        Ok(status) => status,
        Err(message) => complain(manner, &message, Status::Failure),
    }
}

fn rehearse(
    args: &Args,
    manner: &Manner,
    load: Load,
    span: Duration,
    known: &Classes,
) -> Result<Status, String> {
    // What is wrong with the text is said before anything is waited for.
    let plan = Request::Load(Load { dry_run: true, confirm_s: None, ..load.clone() });
    let planned = send(&args.address, &plan)?;
    let (parameters, clickpath) = match understood(&planned)? {
        Answer::Planned { parameters, clickpath, .. } => (parameters, clickpath),
        _ => return Ok(show(manner, &planned)),
    };
    let (number, running) = running(&args.address, &clickpath)?;
    let text = Text { name: load.name.clone(), text: load.text.clone() };
    let new = Source { text, parameters, clickpath: clickpath.clone() };
    let report = shadow::run(&args.address, &running, &new, known, span)?;
    if !manner.json {
        console::write_result(None, &lang::bytes::without_bytes(&report.text()));
    }
    let is_refused = !report.is_good() && !args.accept_differences;
    let verdict = if is_refused { Status::Configuration } else { Status::Fine };
    if load.dry_run {
        return Ok(verdict.max(show(manner, &with_report(&planned, &report, manner)?)));
    }
    if is_refused {
        let answer =
            json!({ "answer": if report.differs { "differs" } else { "no_packets" }, "shadow": report });
        if manner.json {
            return Ok(verdict.max(report::print_json(&answer)));
        }
        return Ok(complain(
            manner,
            &format!("configuration {number} goes on: '--accept-differences' loads the new one all the same"),
            verdict,
        ));
    }
    if self::running(&args.address, &clickpath)?.0 != number {
        return Err("another configuration has taken the place of the running one".to_owned());
    }
    let answer = send(&args.address, &Request::Load(load))?;
    Ok(show(manner, &with_report(&answer, &report, manner)?))
}

fn understood(answer: &str) -> Result<Answer, String> {
    serde_json::from_str(answer).map_err(|error| format!("the answer is not understood: {error}"))
}

/// The configuration that runs, and its number.
fn running(address: &Address, clickpath: &str) -> Result<(u64, Source), String> {
    let listed = understood(&send(address, &Request::History { number: None })?)?;
    let number = match listed {
        Answer::History { configurations, .. } => {
            configurations.iter().find(|one| one.runs).map(|one| one.number)
        }
        _ => None,
    };
    match understood(&send(address, &Request::History { number })?)? {
        Answer::Text { number, name, text, parameters } => {
            Ok((number, Source { text: Text { name, text }, parameters, clickpath: clickpath.to_owned() }))
        }
        Answer::Refused { message, .. } => Err(message),
        _ => Err("the router does not say what it runs".to_owned()),
    }
}

/// An answer, with what the shadow has shown if it is for programs.
fn with_report(answer: &str, report: &Report, manner: &Manner) -> Result<String, String> {
    if !manner.json {
        return Ok(answer.to_owned());
    }
    let mut object: Value = serde_json::from_str(answer).map_err(|error| error.to_string())?;
    object["shadow"] = serde_json::to_value(report).map_err(|error| error.to_string())?;
    Ok(object.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        assert_eq!(span("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(span("2"), Ok(Duration::from_secs(2)));
        for text in ["", "0", "100ms", "2h", "-1", "frog"] {
            assert!(span(text).is_err(), "{text}");
        }
    }
}
