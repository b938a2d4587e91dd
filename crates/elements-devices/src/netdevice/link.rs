//! What is said of an interface that is down or deleted, and of one that takes its place, to users and to those who listen to events.

use router::Cx;

/// An interface was deleted.
pub(super) fn is_gone(cx: &Cx<'_>, interface: &str) {
    let declaration = cx.info().nodes[cx.index()].declaration();
    cx.error(format_args!("{declaration}: {interface}: the interface is gone; waiting for it to come back"));
    tell(cx, "gone", interface);
}

/// There is an interface of its name again.
pub(super) fn is_back(cx: &Cx<'_>, interface: &str) {
    cx.log(format_args!("{}: {interface} is back", cx.info().nodes[cx.index()].declaration()));
    tell(cx, "back", interface);
}

/// An interface that was down is up.
pub(super) fn is_up(cx: &Cx<'_>, interface: &str) {
    cx.log(format_args!("{}: {interface} is up again", cx.info().nodes[cx.index()].declaration()));
    tell(cx, "up", interface);
}

/// Tells those who listen to events what has become of an interface.
pub(super) fn tell(cx: &Cx<'_>, what: &str, interface: &str) {
    let events = &cx.info().events;
    if events.is_heard() {
        events.publish(&format!("link {what} {interface} {}", cx.name()));
    }
}
