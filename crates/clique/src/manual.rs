//! `clique elements`: the element classes and their manual.

use crate::status::Status;
use crate::{console, remedies};
use router::{Class, Classes};

/// Arguments of `clique elements`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print the manual of this class; without it, list all classes.
    #[arg(value_name = "CLASS")]
    class: Option<String>,

    /// Print the manual of this class, or of all, in Markdown.
    #[arg(long)]
    markdown: bool,
}

/// Runs `clique elements`.
pub(crate) fn run(args: &Args, known: &Classes) -> Status {
    let form = if args.markdown { markdown } else { page };
    let Some(name) = &args.class else {
        let text = if args.markdown { known.iter().map(markdown).collect() } else { list(known) };
        return console::write_result(None, &text);
    };
    if let Some(class) = known.get(name) {
        return console::write_result(None, &form(class));
    }
    let similar = || lang::similar(name, known.names()).map(|similar| format!("; did you mean '{similar}'?"));
    let remedy = remedies::find(name).map(|remedy| format!("; {remedy}"));
    let advice = remedy.or_else(similar).unwrap_or_default();
    console::complain(&format!("unknown element class '{name}'{advice}\n"));
    Status::Usage
}

/// All classes, each with what it does.
fn list(known: &Classes) -> String {
    let width = known.names().map(str::len).max().unwrap_or(0);
    known.iter().map(|class| format!("{:width$}  {}\n", class.name, summary(class))).collect()
}

/// The lines of a class's documentation: the comment that its file starts with.
fn lines(class: &Class) -> impl Iterator<Item = &'static str> {
    let comment = class.doc.lines().map_while(|line| line.strip_prefix("//!"));
    comment.map(|line| line.strip_prefix(' ').unwrap_or(line))
}

/// The first sentence of the documentation.
fn summary(class: &Class) -> String {
    let paragraph: Vec<&str> = lines(class).take_while(|line| !line.is_empty()).collect();
    let mut text = paragraph.join(" ");
    if let Some(end) = text.find(". ") {
        text.truncate(end + 1);
    }
    text
}

/// The manual page: headings in capitals, code indented.
fn page(class: &Class) -> String {
    let mut text = format!("{}\n\n", class.name.to_uppercase());
    let mut code = false;
    for line in lines(class) {
        if line.starts_with("```") {
            code = !code;
        } else if code && !line.is_empty() {
            text.extend(["    ", line, "\n"]);
        } else if let Some(heading) = line.strip_prefix("# ").filter(|_| !code) {
            text.extend([&heading.to_uppercase(), "\n"]);
        } else {
            text.extend([line, "\n"]);
        }
    }
    text
}

/// The manual page as a section of a document: the class is a heading, its parts are headings below it.
fn markdown(class: &Class) -> String {
    let mut text = format!("## {}\n\n", class.name);
    let mut code = false;
    for line in lines(class) {
        code ^= line.starts_with("```");
        if line.starts_with('#') && !code {
            text.push_str("##");
        }
        text.extend([line, "\n"]);
    }
    text + "\n"
}
