//! Calls of handlers with any texts, on elements of `tests/stages.txt`, before and after packets. A fuzz target and ordinary tests make the same.

use super::stages;
use router::{Call, Classes, Clock, Log, Options, Router};

/// Two packets, for each element alone.
const PACKETS: &str =
    "Given(\\<4500002e00000000ff1165ba0a0000010a00010204d20035001a0000>, \\<60000000000020402001>)";

/// The first byte chooses the element, the second what marks headers; each call is a byte that chooses the handler, one for reading or writing, and
/// the text behind its length.
pub(crate) fn run(data: &[u8], known: &Classes) {
    let Some((&[first, before], calls)) = data.split_first_chunk() else { return };
    let stage = stages::stages()[usize::from(first) % stages::stages().len()];
    let before = stages::BEFORE[usize::from(before) % stages::BEFORE.len()];
    let config = stages::through(PACKETS, before, &[stage]);
    let layout = router::layout(lang::parse(&config, "handlers", &[]).graph, known, 1);
    let layout = layout.unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let log = Log::Memory(Default::default());
    let options = Options { log, clock: Clock::simulated(), vector: 1, ..Options::default() };
    let (mut router, _) = router::build(layout, config, known, options)
        .unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    call(&mut router, calls);
    router.run();
    call(&mut router, calls);
    router.finish();
}

fn call(router: &mut Router, mut calls: &[u8]) {
    let paths = paths(router);
    while let Some((&[which, kind, len], rest)) = calls.split_first_chunk() {
        let (text, rest) = rest.split_at(usize::from(len).min(rest.len()));
        calls = rest;
        let (path, text) = (&paths[usize::from(which) % paths.len()], String::from_utf8_lossy(text));
        // They may refuse, but not panic.
        let _ = match kind % 2 {
            0 => router.call(Call::read(path, &*text)),
            _ => router.call(Call::write(path, &*text)),
        };
    }
}

/// The handlers of all elements, but those that name files, and those of the source, which ends the run unless it is told not to.
fn paths(router: &mut Router) -> Vec<String> {
    let list = router.call(Call::read("list", "")).expect("a list");
    let names = list.lines().skip(1).filter(|name| !name.starts_with("Given"));
    let names: Vec<String> = names.map(str::to_owned).collect();
    let mut paths = vec!["version".to_owned()];
    for name in names {
        let handlers = router.call(Call::read(format!("{name}.handlers"), "")).unwrap_or_default();
        let words = handlers.lines().filter_map(|line| line.split_whitespace().next());
        paths.extend(words.filter(|word| !word.contains("file")).map(|word| format!("{name}.{word}")));
    }
    paths
}
