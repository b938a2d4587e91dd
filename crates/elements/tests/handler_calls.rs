//! Any texts for any handler: it may refuse them, but nothing panics, and every run comes to its end.

#[path = "handlers/mod.rs"]
mod handlers;
#[path = "../../../fuzz/mutations.rs"]
mod mutations;
#[allow(dead_code)] // other tests use the rest
mod stages;

/// An element for files writes where the test runs.
#[test]
fn calls_that_are_nearly_right() {
    let folder = tempfile::tempdir().expect("a folder");
    std::env::set_current_dir(&folder).expect("a folder");
    let known = stages::known(&elements::classes(), None);
    mutations::corpus("handlers").iter().for_each(|data| handlers::run(data, &known));
    mutations::each("handlers", |data| handlers::run(data, &known));
}
