//! `clique elements`: the element classes and their manual.

use crate::console;
use crate::status::Status;
use router::{Class, Classes};

/// Arguments of `clique elements`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print the manual of this class; without it, list all classes.
    #[arg(value_name = "CLASS")]
    class: Option<String>,
}

/// Runs `clique elements`.
pub(crate) fn run(args: &Args, known: &Classes) -> Status {
    let Some(name) = &args.class else { return console::write_result(None, &list(known)) };
    if let Some(class) = known.get(name) {
        return console::write_result(None, &page(class));
    }
    let similar = lang::similar(name, known.names());
    let advice = similar.map(|similar| format!("; did you mean '{similar}'?")).unwrap_or_default();
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
    paragraph.join(" ")
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
