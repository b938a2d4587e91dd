//! Tools that make C++ or drive a kernel module, neither of which is here: they say so, and what to use instead.

use super::line::{HELP, Line, VERSION};
use super::{End, Tool};

pub(super) const MKMINDRIVER: Tool = Tool {
    name: "click-mkmindriver",
    usage: "[OPTION]... [ROUTERFILE]...",
    about: "Always fails: all element classes are part of one program.\n",
    help: "",
    options: &[HELP, VERSION],
    run: |line, _| refuse(line, "cannot build a driver: 'click' has all element classes, use it as it is"),
};

pub(super) const INSTALL: Tool = Tool {
    name: "click-install",
    usage: "[OPTION]... [ROUTERFILE]",
    about: "Always fails: there is no kernel module.\n",
    run: |line, _| {
        refuse(
            line,
            "there is no kernel module here: run the configuration with 'click', and replace one that runs by \
            writing to the handler 'hotconfig' (click -R -p PORT)",
        )
    },
    ..MKMINDRIVER
};

pub(super) const UNINSTALL: Tool = Tool {
    name: "click-uninstall",
    usage: "[OPTION]...",
    run: |line, _| refuse(line, "there is no kernel module here: end 'click' with SIGTERM"),
    ..INSTALL
};

/// Says why a tool does nothing.
pub(super) fn refuse(line: &Line, reason: &str) -> Result<(), End> {
    line.say(reason);
    Err(End::Failed)
}
