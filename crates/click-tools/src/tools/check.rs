//! `click-check`: what is wrong with a configuration.

use super::line::{CLICKPATH, EXPRESSION, FILE, HELP, Id, Line, OUTPUT, VERSION};
use super::load::{Loaded, load, write};
use super::tool::{End, Tool};
use crate::clp::{Spec, Takes};
use crate::wiring::check_wiring;
use lang::Diagnostic;

pub(super) const TOOL: Tool = Tool {
    name: "click-check",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "\
Checks a configuration: ports, and if all classes are known, all arguments; but no
interface is opened and no file written. With '-o FILE', a good configuration is written to FILE.
",
    help: "  -p, --filter                  If it is good, write it to standard output.
  -q, --quiet                   Say nothing of a good configuration.
  -u, --userlevel               Check it for the user-level driver, the only one
                                that there is.
  -l, --linuxmodule             Refused, as is -b, --bsdmodule.
",
    options: &[
        Spec::new("bsdmodule", Some('b'), Id::Bsd, Takes::Nothing).negatable(),
        CLICKPATH,
        EXPRESSION,
        FILE,
        Spec::new("filter", Some('p'), Id::Filter, Takes::Nothing),
        HELP,
        Spec::new("kernel", Some('k'), Id::Linux, Takes::Nothing).negatable(),
        Spec::new("linuxmodule", Some('l'), Id::Linux, Takes::Nothing).negatable(),
        OUTPUT,
        Spec::new("quiet", Some('q'), Id::Quiet, Takes::Nothing).negatable(),
        Spec::new("userlevel", Some('u'), Id::Userlevel, Takes::Nothing).negatable(),
        VERSION,
    ],
    run,
};

fn run(line: &Line<'_>) -> Result<(), End> {
    let output = match (&line.output, line.has(Id::Filter)) {
        (Some(_), true) => return Err(End::Usage("output file specified twice".to_owned())),
        (Some(file), false) => Some(file.clone()),
        (None, filter) => filter.then(|| "-".to_owned()),
    };
    let loaded = load(line, &line.source()?)?;
    let name = &loaded.text.name;
    let mut good = true;
    for driver in line.absent_drivers() {
        line.complain(&format!("{name}: there is no {driver} driver here"));
        good = false;
    }
    // Without any of the options, Click checks for every driver that the configuration suits.
    let drivers = [Id::Linux, Id::Bsd, Id::Userlevel];
    let any = drivers.iter().any(|&driver| line.setting(driver).is_some());
    if !any || line.has(Id::Userlevel) {
        let found = problems(line, &loaded);
        good &= !line.report(&found);
        let clean = found.iter().all(Diagnostic::is_message);
        if output.is_none() && !line.has(Id::Quiet) && clean {
            line.complain(&format!("{name}: configuration OK in userlevel driver"));
        }
    }
    match output {
        _ if !good => Err(End::Failed),
        None => Ok(()),
        Some(file) => write(&Line { output: Some(file), ..line.clone() }, &loaded.graph, &loaded.archive),
    }
}

/// Everything that is wrong and can be found without opening anything: first as Click's tool does, to which a class that it does not
/// know is no error; then, where all classes are known, what is wrong with arguments, too.
fn problems(line: &Line<'_>, loaded: &Loaded) -> Vec<Diagnostic> {
    let found = check_wiring(&loaded.expanded, line.classes());
    if found.is_empty() { line.host.check(loaded.expanded.clone(), &loaded.text.text) } else { found }
}
