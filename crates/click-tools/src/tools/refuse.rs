//! Tools that make C++ or drive a kernel module, neither of which is here: they say so, and what to use instead.

use super::line::{HELP, Id, VERSION};
use super::tool::Tool;
use crate::clp::{Spec, Takes};

/// An option of Click's tool, which is taken so that the reason is what is said.
const fn ignored(long: &'static str, short: Option<char>, takes: Takes) -> Spec<Id> {
    Spec::new(long, short, Id::Ignored, takes).negatable()
}

pub(super) const MKMINDRIVER: Tool = Tool {
    name: "click-mkmindriver",
    usage: "[OPTION]... [ROUTERFILE]...",
    about: "Always fails: all element classes are part of one program.\n",
    help: "",
    options: &[
        ignored("align", Some('A'), Takes::Nothing),
        ignored("all", Some('a'), Takes::Nothing),
        ignored("check", None, Takes::Nothing),
        ignored("clickpath", Some('C'), Takes::Text),
        ignored("directory", Some('d'), Takes::Text),
        ignored("elements", Some('E'), Takes::Text),
        ignored("expression", Some('e'), Takes::Text),
        ignored("extras", None, Takes::Nothing),
        ignored("file", Some('f'), Takes::Text),
        HELP,
        ignored("kernel", Some('k'), Takes::Nothing),
        ignored("linuxmodule", Some('l'), Takes::Nothing),
        ignored("package", Some('p'), Takes::Text),
        ignored("userlevel", Some('u'), Takes::Nothing),
        ignored("verbose", Some('V'), Takes::Nothing),
        VERSION,
    ],
    run: |line| Err(line.fail("cannot build a driver: 'click' has all element classes, use it as it is")),
};

pub(super) const INSTALL: Tool = Tool {
    name: "click-install",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "Always fails: there is no kernel module.\n",
    options: &[
        ignored("cabalistic", None, Takes::Nothing),
        ignored("clickpath", Some('C'), Takes::Text),
        ignored("cpu", None, Takes::Integer),
        ignored("expression", Some('e'), Takes::Text),
        ignored("file", Some('f'), Takes::Text),
        ignored("gid", None, Takes::Text),
        ignored("greedy", Some('G'), Takes::Nothing),
        HELP,
        ignored("hot-swap", Some('h'), Takes::Nothing),
        ignored("hotswap", Some('h'), Takes::Nothing),
        ignored("priority", Some('n'), Takes::Integer),
        ignored("private", Some('p'), Takes::Nothing),
        ignored("threads", Some('j'), Takes::Integer),
        ignored("", Some('t'), Takes::Integer),
        ignored("uid", Some('U'), Takes::Text),
        ignored("uninstall", Some('u'), Takes::Nothing),
        ignored("user", None, Takes::Text),
        ignored("verbose", Some('V'), Takes::Nothing),
        VERSION,
    ],
    run: |line| {
        Err(line.fail(
            "there is no kernel module here: run the configuration with 'click', and replace one that runs by \
            writing to the handler 'hotconfig' (click -R -p PORT)",
        ))
    },
    ..MKMINDRIVER
};

pub(super) const UNINSTALL: Tool = Tool {
    name: "click-uninstall",
    usage: "[OPTION]...",
    options: &[HELP, ignored("verbose", Some('V'), Takes::Nothing), VERSION],
    run: |line| Err(line.fail("there is no kernel module here: end 'click' with SIGTERM")),
    ..INSTALL
};
