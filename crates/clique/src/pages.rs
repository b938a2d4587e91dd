//! `clique man` and `clique completions`: what a package installs beside the program.

use crate::console;
use crate::status::Status;
use clap::Command;
use clap_complete::Shell;

/// Arguments of `clique man`.
#[derive(clap::Args, Debug)]
pub(crate) struct ManArgs {
    /// The subcommand whose page is printed; without it, the program's.
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Arguments of `clique completions`.
#[derive(clap::Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs `clique man`: prints a page in the format of man(7).
pub(crate) fn man(args: &ManArgs, mut program: Command) -> Status {
    program.build();
    let command = match &args.command {
        None => Some(&program),
        Some(name) => program.find_subcommand(name),
    };
    let Some(command) = command else {
        let name = args.command.as_deref().unwrap_or_default();
        console::complain(&format!("clique man: there is no command '{name}'\n"));
        return Status::Usage;
    };
    let title = command.get_display_name().unwrap_or(command.get_name()).to_uppercase();
    let page_of = clap_mangen::Man::new(command.clone())
        .title(title)
        .source(concat!("Clique ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    let mut page = Vec::new();
    match page_of.render(&mut page) {
        Ok(()) => console::write_result(None, &String::from_utf8_lossy(&page)),
        Err(error) => {
            console::complain(&format!("clique man: {error}\n"));
            Status::Failure
        }
    }
}

/// Runs `clique completions`: prints a script for a shell.
pub(crate) fn completions(args: &CompletionsArgs, mut program: Command) -> Status {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "clique", &mut script);
    console::write_result(None, &String::from_utf8_lossy(&script))
}
