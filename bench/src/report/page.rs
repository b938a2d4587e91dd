//! The page: one file, no outside resources, light or dark as the reader has it.

use super::kept::{Kept, Results};
use super::plot::escaped;
use super::show;
use super::show::section::{Section, Table};
use super::stability::Stability;
use super::topics::{TOPICS, Topic};
use serde_json::Value;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");

/// A report, and those of other machines beside it.
pub(super) fn page(results: &Results, merged: &[Results]) -> String {
    let mut html = format!(
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width, initial-scale=1'>\
         <title>Clique: measurements</title><style>{STYLE}</style><main><h1>Clique: measurements</h1>"
    );
    html += &account(results);
    let ours = show::sections(results);
    let others: Vec<(&Results, Vec<Section>)> =
        merged.iter().map(|other| (other, show::sections(other))).collect();
    let shown: Vec<(&Topic, String)> =
        TOPICS.iter().filter_map(|topic| Some((topic, section(topic, (results, &ours), &others)?))).collect();
    html += "<nav><ul>";
    for (topic, _) in &shown {
        let _ = write!(html, "<li><a href='#{}'>{}</a></li>", topic.name, escaped(topic.title));
    }
    html += "</ul></nav>";
    html += CLAIMS;
    shown.iter().for_each(|(_, section)| html += section);
    html + &missing(results) + "</main></html>\n"
}

/// A topic, as far as one of the reports has figures of it.
fn section(
    topic: &Topic,
    (results, ours): (&Results, &[Section]),
    others: &[(&Results, Vec<Section>)],
) -> Option<String> {
    let of = |sections: &'_ [Section]| sections.iter().position(|section| section.topic == topic.name);
    let own = of(ours);
    let theirs: Vec<(&Results, &Section)> =
        others.iter().filter_map(|(other, sections)| Some((*other, &sections[of(sections)?]))).collect();
    if own.is_none() && theirs.is_empty() {
        return None;
    }
    let mut html = format!("<section id='{}'><h2>{}</h2>", topic.name, escaped(topic.title));
    match own {
        Some(at) => {
            html += &origin(results, topic, true);
            html += &parts(&ours[at]);
        }
        None => html += "<p class='note'>not measured here</p>",
    }
    for (other, section) in theirs {
        let _ = write!(
            html,
            "<details{}><summary>{}</summary>{}{}{}{}</details>",
            if own.is_none() { " open" } else { "" },
            escaped(&other.account.machine.line()),
            settings(other),
            stability(&other.account.stability),
            origin(other, topic, false),
            parts(section)
        );
    }
    Some(html + "</section>")
}

/// What bench/README.md says at length.
const CLAIMS: &str = "<section><h2>What may not be claimed</h2><ul>\
    <li>Figures of different runs are not compared: the same row differs by a tenth from hour to hour on shared machines.</li>\
    <li>What is in memory says nothing about network cards; virtual cables (veth) copy each frame.</li>\
    <li>Rows with more threads than processors show the scheduler. What the simulator or the model says is labelled so.</li>\
    <li>Medians stand before their range (least–most). Nothing was dropped in a run that has a figure.</li></ul></section>";

fn account(results: &Results) -> String {
    format!(
        "<p class='machine'>{}</p>{}{}",
        escaped(&results.account.machine.line()),
        settings(results),
        stability(&results.account.stability)
    )
}

/// What the machine was set to.
fn settings(results: &Results) -> String {
    format!("<p class='machine'>{}</p>", escaped(&results.account.machine.settings()))
}

fn stability(stability: &Stability) -> String {
    let class = if stability.holds() { "good" } else { "bad" };
    format!("<p class='{class}'>Machine: {}.</p>", escaped(&stability.line()))
}

fn kept<'a>(results: &'a Results, topic: &str) -> Option<&'a Kept> {
    results.kept.iter().find(|kept| kept.topic == topic)
}

/// How a report has come to its figures of a topic.
fn origin(results: &Results, topic: &Topic, has_raw: bool) -> String {
    let Some(kept) = kept(results, topic.name) else { return String::new() };
    let is_quiet = kept.steal_percent <= 1.0 && kept.holds(&results.account.stability);
    let mut html = format!(
        "<p{}><code>{} {}</code> took {:.0} s at commit {}, the host took {:.1} % of the time",
        if is_quiet { "" } else { " class='bad'" },
        topic.program(),
        escaped(&kept.command.join(" ")),
        kept.seconds,
        escaped(&kept.commit),
        kept.steal_percent,
    );
    if has_raw {
        let _ = write!(html, "; <a href='raw/{}.json'>raw results</a>", topic.name);
    }
    html += "</p>";
    // What was found before the topic or behind it, if it explains the mark.
    for check in kept.checks.iter().filter(|check| !check.holds()).take(1) {
        html += &stability(check);
    }
    for note in ["notes", "skipped"].into_iter().flat_map(|name| said(kept, name)) {
        let _ = write!(html, "<p class='note'>{}</p>", escaped(note));
    }
    html
}

/// What a command says under a name: one sentence or a list of them.
fn said<'a>(kept: &'a Kept, name: &str) -> Vec<&'a str> {
    match kept.result.as_ref().ok().map(|result| &result[name]) {
        Some(Value::String(sentence)) => vec![sentence],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn parts(section: &Section) -> String {
    let mut html = String::new();
    section.text.iter().for_each(|paragraph| {
        let _ = write!(html, "<p>{}</p>", escaped(paragraph));
    });
    section.charts.iter().for_each(|chart| html += chart);
    section.tables.iter().filter(|shown| !shown.rows.is_empty()).for_each(|shown| html += &table(shown));
    html
}

fn table(table: &Table) -> String {
    let cells = |tag: &str, cells: &[String]| {
        cells.iter().fold(String::new(), |row, cell| row + &format!("<{tag}>{}</{tag}>", escaped(cell)))
    };
    let rows = table.rows.iter().fold(String::new(), |rows, row| rows + "<tr>" + &cells("td", row) + "</tr>");
    let text = if table.text.is_empty() { String::new() } else { format!("<p>{}</p>", escaped(&table.text)) };
    format!(
        "{text}<div class='wide'><table><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{rows}</tbody></table></div>",
        escaped(&table.caption),
        cells("th", &table.heads)
    )
}

/// Topics without a figure, and why.
fn missing(results: &Results) -> String {
    let mut html = String::new();
    for topic in TOPICS.iter().filter(|topic| results.of(topic.name).is_none()) {
        let why = match kept(results, topic.name).map(|kept| &kept.result) {
            Some(Err(message)) => message.trim(),
            _ => "not measured",
        };
        let _ = write!(html, "<li>{}: {}</li>", escaped(topic.title), escaped(why));
    }
    if html.is_empty() { html } else { format!("<section><h2>Without figures</h2><ul>{html}</ul></section>") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(topic: &str, result: Value) -> Results {
        let kept = serde_json::json!({
            "topic": topic, "depth": "tiny", "command": [topic], "commit": "0123abcd", "seconds": 1.0, "steal_percent": 0.0,
            "result": { "Ok": result },
        });
        let account = serde_json::json!({
            "machine": {
                "processor": "a processor", "cores": 1, "microcode": "0x17", "kernel_arguments": "mitigations=off",
                "kernel": "a kernel", "rustc": "a compiler", "commit": "0123abcd",
            },
            "stability": { "spread_percent": [], "steal_percent": 0.0, "load_average": "" },
        });
        let read = |value| serde_json::from_value(value).expect("what is kept");
        Results { account: serde_json::from_value(account).expect("an account"), kept: vec![read(kept)] }
    }

    /// Catches a section of empty tables that does not say why.
    #[test]
    fn what_was_skipped_is_said() {
        let without_root = serde_json::json!({ "skipped": "needs root", "figures": [], "latencies": [], "replacements": [] });
        let html = page(&results("devices", without_root), &[]);
        assert!(html.contains("<p class='note'>needs root</p>"), "{html}");
        assert!(!html.contains("<table>"), "{html}");
        assert!(html.contains("microcode 0x17, kernel arguments that matter: mitigations=off"), "{html}");
        let listed = serde_json::json!({ "skipped": ["one peer", "and another one"], "figures": [] });
        let html = page(&results("rcu-read", listed), &[]);
        assert!(html.contains("<p class='note'>one peer</p><p class='note'>and another one</p>"), "{html}");
    }
}
