//! The page: one file, no outside resources, light or dark as the reader has it.

use super::kept::{Kept, Results};
use super::plot::escaped;
use super::show;
use super::show::section::{Section, Table};
use super::topics::{TOPICS, Topic};
use serde_json::Value;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");

/// A report, and those of other machines behind it.
pub(super) fn page(results: &Results, merged: &[Results]) -> String {
    let mut html = format!(
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width, initial-scale=1'>\
         <title>Clique: measurements</title><style>{STYLE}</style><main><h1>Clique: measurements</h1>"
    );
    html += &account(results);
    html += "<nav><ul>";
    for topic in TOPICS.iter().filter(|topic| results.of(topic.name).is_some()) {
        let _ = write!(html, "<li><a href='#{}'>{}</a></li>", topic.name, escaped(topic.title));
    }
    html += "</ul></nav>";
    html += CLAIMS;
    let others: Vec<(String, Vec<Section>)> =
        merged.iter().map(|other| (other.account.machine.line(), show::sections(other))).collect();
    for section in show::sections(results) {
        html += &body(results, &section);
        for (machine, sections) in &others {
            for other in sections.iter().filter(|other| other.topic == section.topic) {
                let _ = write!(
                    html,
                    "<details><summary>{}</summary>{}</details>",
                    escaped(machine),
                    parts(other)
                );
            }
        }
        html += "</section>";
    }
    html + &missing(results) + "</main></html>\n"
}

/// What bench/README.md says at length.
const CLAIMS: &str = "<section><h2>What may not be claimed</h2><ul>\
    <li>Figures of different runs are not compared: the same row differs by a tenth from hour to hour on shared machines.</li>\
    <li>What is in memory says nothing about network cards; virtual cables (veth) copy each frame.</li>\
    <li>Rows with more threads than processors show the scheduler. What the simulator or the model says is labelled so.</li>\
    <li>Medians stand before their range (least–most). Nothing was dropped in a run that has a figure.</li></ul></section>";

fn account(results: &Results) -> String {
    let stability = &results.account.stability;
    format!(
        "<p class='machine'>{}</p><p class='{}'>Machine: {}.</p>",
        escaped(&results.account.machine.line()),
        if stability.holds() { "good" } else { "bad" },
        escaped(&stability.line())
    )
}

fn kept<'a>(results: &'a Results, topic: &str) -> Option<&'a Kept> {
    results.kept.iter().find(|kept| kept.topic == topic)
}

fn body(results: &Results, section: &Section) -> String {
    let title =
        TOPICS.iter().find(|topic| topic.name == section.topic).map_or(section.topic, |topic| topic.title);
    let mut html = format!("<section id='{}'><h2>{}</h2>", section.topic, escaped(title));
    if let Some(kept) = kept(results, section.topic) {
        let marked =
            if kept.steal_percent > 1.0 || !results.account.stability.holds() { " class='bad'" } else { "" };
        let _ = write!(
            html,
            "<p{marked}><code>{} {}</code> took {:.0} s at commit {}, the host took {:.1} % of the time; <a href='raw/{}.json'>raw results</a></p>",
            TOPICS.iter().find(|topic| topic.name == section.topic).map_or("", Topic::program),
            escaped(&kept.command.join(" ")),
            kept.seconds,
            escaped(&kept.commit),
            kept.steal_percent,
            section.topic
        );
        let said = |name: &str| kept.result.as_ref().ok().and_then(|result| result[name].as_array());
        for note in ["notes", "skipped"].into_iter().filter_map(said).flatten().filter_map(Value::as_str) {
            let _ = write!(html, "<p class='note'>{}</p>", escaped(note));
        }
    }
    html + &parts(section)
}

fn parts(section: &Section) -> String {
    let mut html = String::new();
    section.text.iter().for_each(|paragraph| {
        let _ = write!(html, "<p>{}</p>", escaped(paragraph));
    });
    section.charts.iter().for_each(|chart| html += chart);
    section.tables.iter().for_each(|shown| html += &table(shown));
    html
}

fn table(table: &Table) -> String {
    let cells = |tag: &str, cells: &[String]| {
        cells.iter().fold(String::new(), |row, cell| row + &format!("<{tag}>{}</{tag}>", escaped(cell)))
    };
    let rows = table.rows.iter().fold(String::new(), |rows, row| rows + "<tr>" + &cells("td", row) + "</tr>");
    format!(
        "<div class='wide'><table><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{rows}</tbody></table></div>",
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
