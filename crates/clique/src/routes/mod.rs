//! `clique routes`: reads route files of any known format, converts, compares and describes them, looks addresses up, and
//! loads them into a router that runs.

mod diff;
mod file;
mod import;
mod lookup;
mod replay;
mod stats;
mod trouble;

use crate::console;
use crate::status::Status;
use clap::Subcommand;
use trouble::Trouble;

const EXIT_STATUS: &str = "Exit status: 0 fine, 1 wrong or unreadable file, 2 wrong command line, 3 failure to write or to reach the router.";

/// Arguments of `clique routes`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,

    #[command(flatten)]
    reading: file::Reading,

    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Check a file and print its routes in one format, or load it into a running router.
    ///
    /// Routes are printed in order, each prefix once, in lines that all these commands and 'load' handlers can read. With
    /// '--into', the file is checked, then its routes are sent to the element of a running router, to be added to its own or
    /// (with '--replace') to take their place: all or none.
    #[command(after_help = EXIT_STATUS)]
    Import(import::Args),
    /// Print the longest match for addresses.
    #[command(after_help = EXIT_STATUS)]
    Lookup(lookup::Args),
    /// Print what leads from one file to another: '-' gone, '+' new, '~' leads elsewhere.
    #[command(after_help = EXIT_STATUS)]
    Diff(diff::Args),
    /// Change a table as the BGP updates of MRT files say, one after the other, and time it.
    ///
    /// Each update is entered as it comes; where it makes another route of its prefix the best (the shortest AS path, of several the
    /// oldest), the table is changed. Afterwards the table is compared with a slow one that went through the same.
    #[command(after_help = EXIT_STATUS)]
    Replay(replay::Args),
    /// Count prefixes by length, next hops, and the bytes of the tables for them.
    #[command(after_help = EXIT_STATUS)]
    Stats(stats::Args),
}

/// Runs `clique routes`.
pub(crate) fn run(args: &Args) -> Status {
    let done = match &args.action {
        Action::Import(action) => import::run(action, &args.reading, args.json),
        Action::Lookup(action) => lookup::run(action, &args.reading, args.json),
        Action::Diff(action) => diff::run(action, &args.reading, args.json),
        Action::Replay(action) => replay::run(action, &args.reading, args.json),
        Action::Stats(action) => stats::run(action, &args.reading, args.json),
    };
    done.unwrap_or_else(|Trouble(status, message)| {
        console::complain(&format!("clique routes: {}\n", message.trim_end()));
        status
    })
}
