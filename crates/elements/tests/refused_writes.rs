//! What a handler refuses changes nothing: a list whose last part is wrong is not half taken.

#[allow(dead_code)] // other tests use the rest
mod stages;

use router::{Call, Classes, Clock, Log, Options, Router};
use std::collections::BTreeMap;

/// Behind what a handler reads, each makes something wrong of most values.
const TAILS: [&str; 5] = [" nonsense", ",nonsense", ", 99999:1", " 99999999999999999999", "\nnonsense"];
/// Values of their own, right at the beginning and wrong at the end.
const VALUES: [&str; 8] = [
    "0:7,99999:1",
    "1 2 3 nonsense",
    "7, nonsense",
    "10.9.0.0/16 0, nonsense",
    "add 10.9.0.0/16 0\nadd nonsense",
    "10.9.9.9 02:00:00:00:00:99, nonsense",
    "allow tcp, nonsense",
    "12/0800, nonsense",
];

#[test]
fn a_refused_write_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    std::env::set_current_dir(&folder).expect("a folder");
    let known = stages::known(&elements::classes(), None);
    let (mut refused, mut wrong) = (0, Vec::new());
    for stage in stages::stages() {
        let mut router = build(stage, &known);
        router.run();
        for path in paths(&mut router, "write") {
            try_each(&mut router, &path, &mut refused, &mut wrong);
        }
        router.finish();
    }
    assert!(wrong.is_empty(), "{} of {refused}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 1000, "only {refused} writes were refused");
}

fn build(stage: &stages::Stage, known: &Classes) -> Router {
    let config = stages::through("Given(\\<00>)", "Null", &[*stage]);
    let layout = router::layout(lang::parse(&config, "refused", &[]).graph, known, 1)
        .unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let options =
        Options { log: Log::Memory(Default::default()), clock: Clock::simulated(), ..Options::default() };
    let built = router::build(layout, config, known, options);
    built.unwrap_or_else(|e| panic!("{}", lang::render_click(&e))).0
}

fn try_each(router: &mut Router, path: &str, refused: &mut usize, wrong: &mut Vec<String>) {
    let now = router.call(Call::read(path, "")).unwrap_or_default();
    let near = TAILS.iter().map(|tail| format!("{now}{tail}"));
    for value in near.chain(VALUES.map(str::to_owned)) {
        let before = state(router);
        if router.call(Call::write(path, &*value)).is_ok() {
            continue;
        }
        *refused += 1;
        let after = state(router);
        let changed: Vec<_> = before.iter().filter(|(name, text)| after.get(*name) != Some(text)).collect();
        for (name, text) in changed {
            wrong
                .push(format!("{path} refused {value:?}, and {name} is {:?}, was {text:?}", after.get(name)));
        }
    }
}

/// What all handlers read that tell the same twice.
fn state(router: &mut Router) -> BTreeMap<String, String> {
    let mut once = || -> BTreeMap<_, _> {
        let paths = paths(router, "read");
        paths.into_iter().map(|path| (path.clone(), read(router, &path))).collect()
    };
    let (first, second) = (once(), once());
    first.into_iter().filter(|(path, text)| second.get(path) == Some(text)).collect()
}

fn read(router: &mut Router, path: &str) -> String {
    router.call(Call::read(path, "")).unwrap_or_else(|error| error.to_string())
}

/// The handlers of the stage's elements that can be read, or written.
fn paths(router: &mut Router, how: &str) -> Vec<String> {
    let list = router.call(Call::read("list", "")).expect("a list");
    let names: Vec<String> =
        list.lines().skip(1).filter(|name| !name.starts_with("Given")).map(str::to_owned).collect();
    let mut paths = Vec::new();
    for name in names {
        let handlers = router.call(Call::read(format!("{name}.handlers"), "")).unwrap_or_default();
        let fits = |line: &&str| line.split_once('\t').is_some_and(|(_, flags)| flags.contains(&how[..1]));
        let words = handlers.lines().filter(fits).filter_map(|line| line.split_whitespace().next());
        paths.extend(words.filter(|word| !word.contains("file")).map(|word| format!("{name}.{word}")));
    }
    paths
}
