//! Links in the documents lead somewhere: every relative link of a Markdown file names a file that exists and, behind
//! `#`, a heading of it; every run that a document names is kept; every page is in the book. Code that is quoted from a file
//! is as it stands there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for file in documents() {
        let text = read(&file);
        for link in links(&text) {
            if let Some(reason) = reason_broken(&file, &link.target) {
                broken.push(format!("{}:{}: {}: {reason}", file.display(), link.line, link.target));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn named_runs_are_kept() {
    let mut missing = Vec::new();
    for file in documents() {
        for link in runs(&read(&file)) {
            if !Path::new(ROOT).join("bench/runs").join(&link.target).is_file() {
                missing.push(format!("{}:{}: {}", file.display(), link.line, link.target));
            }
        }
    }
    assert!(missing.is_empty(), "not in bench/runs:\n{}", missing.join("\n"));
}

#[test]
fn kept_runs_are_in_the_index() {
    let index = read(Path::new("bench/runs/INDEX.md"));
    let (folder, mut files) = (Path::new(ROOT).join("bench/runs"), Vec::new());
    collect(&folder, "json", &mut files);
    assert!(!files.is_empty(), "there are no runs");
    for file in files {
        // A report is a folder, and has one line.
        let path = file.strip_prefix(&folder).expect("below it").to_str().expect("UTF-8");
        let name = path.split('/').next().expect("a name");
        assert!(index.contains(&format!("| {name} |")), "bench/runs/INDEX.md has no line for {name}");
    }
}

#[test]
fn pages_are_in_the_book() {
    let summary = read(Path::new("docs/src/SUMMARY.md"));
    let listed: BTreeSet<String> = links(&summary).into_iter().map(|link| link.target).collect();
    for file in documents() {
        let Ok(page) = file.strip_prefix("docs/src") else { continue };
        let page = page.to_str().expect("UTF-8");
        assert!(page == "SUMMARY.md" || listed.contains(page), "SUMMARY.md does not list {page}");
    }
}

#[test]
fn the_shortest_element_is_quoted_as_it_is() {
    let page = read(Path::new("docs/src/write-an-element.md"));
    let (_, behind) = page.split_once("```rust,ignore\n").expect("the code of Strip");
    let (code, _) = behind.split_once("```").expect("its end");
    let file = read(Path::new("crates/elements-general/src/basic/strip.rs"));
    assert!(code.lines().count() > 10 && file.contains(code), "strip.rs does not have this:\n{code}");
}

/// The Markdown files below the root, relative to it.
fn documents() -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(Path::new(ROOT), "md", &mut files);
    let relative = |file: PathBuf| file.strip_prefix(ROOT).expect("below the root").to_owned();
    let files: Vec<PathBuf> = files.into_iter().map(relative).collect();
    assert!(files.len() > 10, "only {files:?}");
    files
}

/// Adds the files with this extension below a directory; what is built and what Git keeps are not looked at.
fn collect(directory: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if name != "target" && name != ".git" {
                collect(&path, extension, files);
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
}

fn read(file: &Path) -> String {
    fs::read_to_string(Path::new(ROOT).join(file))
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Why a link in a file leads nowhere, if it does. Links to other sites are not followed.
fn reason_broken(file: &Path, target: &str) -> Option<&'static str> {
    let (path, heading) = target.split_once('#').map_or((target, None), |(path, rest)| (path, Some(rest)));
    if is_of_another_site(path) {
        return None;
    }
    if path.starts_with('/') {
        return Some("a path from the root of a site; write a relative one");
    }
    let found = if path.is_empty() { Some(file.to_owned()) } else { resolve(file, path) };
    let Some(found) = found else { return Some("outside of the repository") };
    let full = Path::new(ROOT).join(&found);
    if !full.exists() {
        return Some("there is no such file");
    }
    let heading = heading?;
    let is_page = found.extension().is_some_and(|extension| extension == "md");
    (is_page && !anchors(&read(&found)).contains(heading)).then_some("there is no such heading")
}

/// Whether a target begins with a scheme, as in `https://` and `mailto:`.
fn is_of_another_site(path: &str) -> bool {
    let scheme = path.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.chars().all(|c| c.is_ascii_alphanumeric())) || path.starts_with("//")
}

/// The path that a link in `file` leads to, relative to the root; none if it leaves the repository.
fn resolve(file: &Path, path: &str) -> Option<PathBuf> {
    let mut found = file.parent().map(Path::to_owned).unwrap_or_default();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => found.push(name),
            Component::CurDir => {}
            Component::ParentDir if found.pop() => {}
            _ => return None,
        }
    }
    Some(found)
}

/// A link, and the line on which its target begins.
#[derive(Debug, PartialEq)]
struct Link {
    line: usize,
    target: String,
}

/// The links and pictures of a Markdown text, outside of code.
fn links(text: &str) -> Vec<Link> {
    let text = without_code(text);
    let mut found = Vec::new();
    for start in ["](", "src=\"", "srcset=\"", "href=\""] {
        for (at, _) in text.match_indices(start) {
            let rest = &text[at + start.len()..];
            let target = if start == "](" { in_parentheses(rest) } else { rest.split('"').next() };
            let word = target.and_then(|target| target.split_whitespace().next()).unwrap_or_default();
            let line = text[..at].matches('\n').count() + 1;
            found.push(Link { line, target: word.trim_matches(['<', '>']).to_owned() });
        }
    }
    for (number, line) in text.lines().enumerate() {
        found.extend(definition(line).map(|target| Link { line: number + 1, target: target.to_owned() }));
    }
    found.sort_by_key(|link| link.line);
    found
}

/// The text up to the parenthesis that closes one before it.
fn in_parentheses(text: &str) -> Option<&str> {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[..at]);
        }
    }
    None
}

/// The target of a line `[name]: target`.
fn definition(line: &str) -> Option<&str> {
    let (name, rest) = line.trim_start().strip_prefix('[')?.split_once("]: ")?;
    (!name.contains(['[', ']'])).then(|| rest.split_whitespace().next()).flatten()
}

/// The text with code blanked out, line by line: fenced blocks, indented blocks, and what stands between backticks.
fn without_code(text: &str) -> String {
    let mut kept = String::new();
    let mut fence = None;
    let (mut after_blank, mut in_list) = (true, false);
    for line in text.lines() {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        let mark = ["```", "~~~"].into_iter().find(|mark| content.starts_with(mark));
        let indented = indent >= 4 && after_blank && !in_list;
        let is_code = fence.is_some() || mark.is_some() || indented;
        if mark.is_some() && (fence.is_none() || fence == mark) {
            fence = if fence.is_none() { mark } else { None };
        }
        if !is_code {
            kept.push_str(line);
        }
        kept.push('\n');
        if indent == 0 && !content.is_empty() {
            in_list = is_item(content);
        }
        after_blank = content.is_empty() || indented;
    }
    without_spans(&kept)
}

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
        || number.len() < line.len() && number.starts_with(". ")
}

/// The text without what stands between equally many backticks, within a paragraph.
fn without_spans(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let run = &rest[start..start + rest[start..].bytes().take_while(|byte| *byte == b'`').count()];
        let behind = &rest[start + run.len()..];
        let paragraph = behind.find("\n\n").unwrap_or(behind.len());
        kept.push_str(&rest[..start]);
        rest = behind;
        if let Some(end) = end_of_span(&behind[..paragraph], run.len()) {
            kept.extend(behind[..end].chars().filter(|c| *c == '\n'));
            rest = &behind[end..];
        }
    }
    kept + rest
}

/// Where a code span ends that was opened by so many backticks.
fn end_of_span(text: &str, backticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`') {
        let run = text[at + start..].bytes().take_while(|byte| *byte == b'`').count();
        at += start + run;
        if run == backticks {
            return Some(at);
        }
    }
    None
}

/// What `#` can name in a Markdown text: its headings, and identifiers that it declares.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let lines = text.lines().zip(without_fences(text));
    for heading in lines.filter(|(_, code)| !code).filter_map(|(line, _)| heading(line)) {
        let slug = slug(heading);
        let repeated = (1..).map(|number| format!("{slug}-{number}"));
        let free = std::iter::once(slug.clone()).chain(repeated).find(|name| !found.contains(name));
        found.extend(free);
    }
    for start in ["id=\"", "name=\""] {
        let declared =
            text.match_indices(start).filter_map(|(at, _)| text[at + start.len()..].split('"').next());
        found.extend(declared.map(str::to_owned));
    }
    found
}

/// For each line, whether it belongs to a fenced block.
fn without_fences(text: &str) -> Vec<bool> {
    let mut inside = false;
    let mut all = Vec::new();
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        all.push(inside || fence);
        inside ^= fence;
    }
    all
}

/// The text of a heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim())
}

/// What a heading is called in addresses: words in small letters, joined by hyphens.
fn slug(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading;
    // Of a link only its text counts.
    while let Some((before, target)) = rest.split_once("](") {
        text.push_str(before);
        rest = target.split_once(')').map_or("", |(_, behind)| behind);
    }
    text.push_str(rest);
    let kept = text.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The files of runs that a text names, with or without their folder: those that begin with a date.
fn runs(text: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || ['-', '.', '_'].contains(&c);
        for word in line.split(|c: char| !is_part(c)) {
            let dated = word.starts_with("20") && word.get(4..5) == Some("-") && word.ends_with(".json");
            if dated {
                found.push(Link { line: number + 1, target: word.to_owned() });
            }
        }
    }
    found
}

#[test]
fn links_are_found_outside_of_code() {
    let targets = |text: &str| links(text).into_iter().map(|link| link.target).collect::<Vec<_>>();
    assert_eq!(targets("a [b](c.md), ![d](e.svg \"title\") and [f](<g.md#h>)"), ["c.md", "e.svg", "g.md#h"]);
    assert_eq!(targets("[a (b)](c_(d).md)"), ["c_(d).md"]);
    assert_eq!(targets("[a][b]\n\n[b]: c.md\n"), ["c.md"]);
    assert_eq!(targets("<img src=\"a.svg\" alt=\"b\">"), ["a.svg"]);
    assert_eq!(targets("`[a](b)` and ``x ` [a](b)`` but [c](d)"), ["d"]);
    assert_eq!(targets("an open ` and [a](b)"), ["b"]);
    assert_eq!(targets("```\n[a](b)\n```\n[c](d)"), ["d"]);
    assert_eq!(targets("text\n\n    [a](b)\n\n[c](d)"), ["d"]);
    assert_eq!(targets("- item\n\n    [a](b)\n"), ["b"]);
}

#[test]
fn a_link_has_the_line_where_its_target_stands() {
    let text = "```\ncode\n```\n\n`a\nb` [c\nd](e.md)\n";
    assert_eq!(links(text), [Link { line: 7, target: "e.md".to_owned() }]);
}

#[test]
fn headings_give_anchors() {
    let text =
        "# One, `two`\n\n```\n# code\n```\n## A\n## A\n### [In](x.md) the rest\n<a id=\"here\"></a>\n#none\n";
    let expected = ["a", "a-1", "here", "in-the-rest", "one-two"];
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_broken_link_has_its_reason() {
    let readme = Path::new("README.md");
    assert_eq!(reason_broken(readme, "https://example.org/none#at-all"), None);
    assert_eq!(reason_broken(readme, "docs/src/SUMMARY.md"), None);
    assert_eq!(reason_broken(Path::new("docs/src/SUMMARY.md"), "#summary"), None);
    assert_eq!(reason_broken(Path::new("docs/src/SUMMARY.md"), "../../README.md"), None);
    assert_eq!(reason_broken(readme, "docs/none.md"), Some("there is no such file"));
    assert_eq!(reason_broken(readme, "docs/src/SUMMARY.md#none"), Some("there is no such heading"));
    assert_eq!(reason_broken(readme, "../README.md"), Some("outside of the repository"));
    assert!(reason_broken(readme, "/README.md").is_some());
}

#[test]
fn runs_are_found_by_their_dates() {
    let text = "`bench/runs/2026-01-02-a-b.json` and `2026-01-02-c.json`;\nDATE-c.json, 2026-01-02-d.svg";
    let found: Vec<_> = runs(text).into_iter().map(|link| (link.line, link.target)).collect();
    assert_eq!(found, [(1, "2026-01-02-a-b.json".to_owned()), (1, "2026-01-02-c.json".to_owned())]);
}
