//! Bytes that no client and no zebra sends, but for errors: nothing panics, each connection comes to its end, and the router answers others.

mod doors;
#[path = "../../../fuzz/mutations.rs"]
mod mutations;

#[test]
fn the_corpora_are_replayed() {
    mutations::corpus("control_protocol").iter().for_each(|data| doors::control(data));
    mutations::corpus("fpm").iter().for_each(|data| doors::fpm(data));
}

#[test]
fn commands_that_are_nearly_right() {
    mutations::each("control_protocol", doors::control);
}

#[test]
fn routes_that_are_nearly_right() {
    mutations::each("fpm", doors::fpm);
}
