//! `clique top`: what a running router does, on one screen.
//!
//! A reading is the router's metrics as a text, from its control socket (`source`, `samples`), the largest flows (`flows`) and the busiest associations
//! (`associations`). Two of them make a view with rates
//! (`watch`, `view`), of which rows are chosen and sorted (`order`) and put into tables (`panels`, `grid`). These are drawn
//! (`screen`, `terminal`), or printed as a text; or the view is printed as JSON.

mod associations;
mod figures;
mod flows;
mod grid;
mod order;
mod panels;
#[cfg(test)]
mod picture;
mod samples;
mod screen;
mod source;
mod terminal;
mod view;
mod watch;

use crate::address::Address;
use crate::console;
use crate::status::Status;
use grid::Grid;
use order::{SortKey, arrange};
use panels::Panel;
use screen::Choices;
use source::Source;
use std::io::IsTerminal;
use std::time::Duration;
use view::View;
use watch::Watch;

/// Seconds between readings, at least and at most.
const INTERVALS_S: (f64, f64) = (0.1, 3600.0);

/// Columns of a text, unless the environment or the terminal says otherwise.
const TEXT_WIDTH: usize = 80;

/// Arguments of `clique top`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    address: Address,

    /// Seconds from one reading to the next.
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = interval_s)]
    interval: f64,

    /// Print the tables once, as text of 80 columns, or as many as the terminal or COLUMNS has, and end.
    #[arg(long)]
    once: bool,

    /// Print an object for each reading, one a line, instead of a screen.
    #[arg(long)]
    json: bool,

    /// Stop after N readings.
    #[arg(short = 'n', long, value_name = "N", requires = "json")]
    count: Option<u64>,

    /// Sort rows by this.
    #[arg(short, long, value_enum, default_value = "packets")]
    sort: SortKey,

    /// Show only what has TEXT in its name, class or reason.
    #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    filter: String,
}

/// Reads the number of seconds between readings.
fn interval_s(text: &str) -> Result<f64, String> {
    let (least, most) = INTERVALS_S;
    match text.parse::<f64>() {
        Ok(seconds) if (least..=most).contains(&seconds) => Ok(seconds),
        _ => Err(format!("a number of seconds between {least} and {most} is expected")),
    }
}

/// Runs `clique top`.
pub(crate) fn run(args: &Args) -> Status {
    let done = if args.once || args.json {
        print(args)
    } else if !std::io::stdout().is_terminal() {
        Err("standard output is no terminal; use --once or --json".to_owned())
    } else {
        // An operator reads better that no router listens before the screen is cleared.
        args.address.connect().and_then(|_| terminal::run(args.address.clone(), choices(args)))
    };
    match done {
        Ok(()) => Status::Fine,
        Err(message) => {
            console::complain(&format!("clique top: {message}\n"));
            Status::Failure
        }
    }
}

fn choices(args: &Args) -> Choices {
    Choices {
        place: args.address.name(),
        order: args.sort,
        filter: args.filter.clone(),
        interval: Duration::from_secs_f64(args.interval),
        color: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        ..Choices::default()
    }
}

/// Prints tables or objects. A router that goes away is waited for; one that is not there to begin with is not.
fn print(args: &Args) -> Result<(), String> {
    let (mut source, mut watch) = (Source::new(args.address.clone()), Watch::default());
    let interval = Duration::from_secs_f64(args.interval);
    watch.take(source.read()?);
    let count = if args.once { 1 } else { args.count.unwrap_or(u64::MAX) };
    let mut printed = 0;
    while printed < count {
        std::thread::sleep(interval);
        let news = match source.read() {
            Ok(reading) => watch.take(reading),
            Err(message) if args.once => return Err(message),
            Err(message) => {
                console::complain(&format!("clique top: {message}; trying again\n"));
                continue;
            }
        };
        if let Some(notice) = news.notice {
            console::complain(&format!("clique top: {notice}\n"));
        }
        let view = arrange(news.view, args.sort, &args.filter);
        let text = if args.json { object(&view) } else { tables(&view, width()) };
        let failed = |error| format!("standard output: {}", console::reason(&error));
        if !console::print_on(&text).map_err(failed)? {
            break;
        }
        printed += 1;
    }
    Ok(())
}

fn object(view: &View) -> String {
    let text = serde_json::to_string(view);
    // Nothing in a view can fail to be written.
    text.map_or_else(|error| format!("{{\"error\":\"{error}\"}}\n"), |text| text + "\n")
}

/// The columns of a text: `COLUMNS`, or those of the terminal that shows it.
fn width() -> usize {
    let told =
        std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|columns| *columns > 0);
    let is_terminal = std::io::stdout().is_terminal();
    let size = || ratatui::crossterm::terminal::size().ok().filter(|_| is_terminal);
    told.or_else(|| size().map(|(columns, _)| columns.into())).unwrap_or(TEXT_WIDTH)
}

/// All tables that have rows, one below the other, in so many columns.
fn tables(view: &View, width: usize) -> String {
    let titled = |panel: &Panel| format!("{}\n{}", panel.title, Grid::new(panel, width).lines());
    let panels = std::iter::once(panels::workers(view)).chain(panels::all(view));
    let texts: Vec<String> =
        panels.filter(|panel| !panel.rows.is_empty()).map(|panel| titled(&panel)).collect();
    texts.join("\n")
}
