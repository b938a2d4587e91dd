//! Configurations in which packets pass one element, or two, of `tests/stages.txt`.
//!
//! What a fuzzer makes up is a *story*: which elements, how packets come, and the packets. A fuzz target and ordinary
//! tests run the same stories.

use router::{
    Activity, Class, Classes, Clock, Config, ConfigError, Cx, Element, Log, Options, Residency, Router,
};
use std::fmt::Write;
use std::sync::LazyLock;

const STAGES: &str = include_str!("../../../../tests/stages.txt");

/// What a stage is: its class, the kind of packet that it is for, the text, and whether it stands between a Queue and an Unqueue, or has no
/// output.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "a fuzzer chooses packets without regard to their kind")]
pub(crate) struct Stage {
    pub(crate) class: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
    place: &'static str,
}

/// All stages but the sources.
pub(crate) fn stages() -> &'static [Stage] {
    static READ: LazyLock<Vec<Stage>> = LazyLock::new(read);
    &READ
}

fn read() -> Vec<Stage> {
    let lines = STAGES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let stage = |line: &'static str| {
        let mut words = line.split_whitespace();
        let class = words.next().expect("a class");
        let kind = words.next().expect("a kind");
        let place = words.next().expect("a place");
        let times = words.next().expect("a number");
        let (_, text) = line.split_once(&format!("{place} ")).expect("the place");
        let (_, text) = text.split_once(times).expect("the number");
        Stage { class, kind, text: text.trim(), place }
    };
    lines.map(stage).filter(|stage| stage.place != "source").collect()
}

/// Elements that mark headers, so that those behind them look into packets.
pub(crate) const BEFORE: [&str; 7] = [
    "Null",
    "MarkIPHeader(0)",
    "MarkIPHeader(14)",
    "MarkIP6Header(0)",
    "CheckIPHeader",
    "MarkMACHeader",
    "GetIPAddress(16)",
];

/// A configuration in which packets from a source pass elements that mark headers, and then stages.
pub(crate) fn through(source: &str, before: &str, stages: &[Stage]) -> String {
    let mut config = format!("{source} -> {before}");
    for (i, stage) in stages.iter().enumerate() {
        config += &match stage.place {
            "push" => format!(" -> {}", stage.text),
            "pull" => format!(" -> Queue(64) -> {} -> Unqueue(BURST 8)", stage.text),
            _ => format!(" -> t{i} :: Tee -> {}; t{i}[1]", stage.text),
        };
    }
    config + " -> Discard;"
}

/// Emits the packets that its arguments are, and stops the driver in the end and where an argument is PAUSE.
const GIVEN: Class = Class::new("Given", given)
    .ports("0/1")
    .processing("/h")
    .activity(Activity::Always)
    .residency(Residency::Exclusive);

struct Given {
    packets: Vec<Option<Vec<u8>>>,
    next: usize,
}

fn given(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let words = lang::conf::split_args(config.text());
    Ok(Box::new(Given {
        packets: words
            .iter()
            .map(|word| (word != "PAUSE").then(|| lang::conf::unquote_bytes(word)))
            .collect(),
        next: 0,
    }))
}

impl Element for Given {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let mut batch = cx.batch();
        let mut pauses = false;
        for data in self.packets[self.next..].iter().take(cx.vector()) {
            self.next += 1;
            let Some(data) = data else {
                pauses = true;
                break;
            };
            batch.extend(cx.pool().packet(data));
        }
        if pauses || batch.is_empty() {
            cx.info().please_stop();
        }
        if batch.is_empty() && !pauses {
            return cx.consume(batch);
        }
        cx.tasks().schedule();
        cx.emit(0, batch);
    }
}

/// The configuration that some bytes tell of, and the size of its vectors: two bytes choose stages, one what marks headers, one
/// whether there is a second stage and how large vectors are; then come packets, each behind its length.
pub(crate) fn story(bytes: &[u8]) -> Option<(String, usize)> {
    let (&[first, second, before, form], mut rest) = bytes.split_first_chunk()?;
    let (stages, before) = (stages(), BEFORE[usize::from(before) % BEFORE.len()]);
    let stage = |number: u8| stages[usize::from(number) % stages.len()];
    let chosen = if form & 1 == 0 { vec![stage(first)] } else { vec![stage(first), stage(second)] };
    let mut packets = String::new();
    while let Some((&len, more)) = rest.split_first() {
        let (packet, more) = more.split_at(usize::from(len).min(more.len()));
        packets += if packets.is_empty() { "\\<" } else { ", \\<" };
        packet.iter().for_each(|byte| write!(packets, "{byte:02x}").expect("a string has room"));
        packets.push('>');
        rest = more;
    }
    Some((through(&format!("Given({packets})"), before, &chosen), if form & 2 == 0 { 1 } else { 32 }))
}

/// The classes that configurations here may use: a library, and perhaps one more.
pub(crate) fn known(library: &Classes, more: Option<&'static Class>) -> Classes {
    Classes::new(library.iter().chain([&GIVEN]).chain(more))
}

/// Runs a configuration of these classes to its end in simulated time; how many times an element was handed packets.
pub(crate) fn run(config: &str, vector: usize, known: &Classes) -> u64 {
    run_times(1, config, vector, known)
}

/// The same several times, where each router takes the place of the one before.
pub(crate) fn run_times(times: u32, config: &str, vector: usize, known: &Classes) -> u64 {
    let (clock, mut before, mut dispatches) = (Clock::simulated(), None, 0);
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for _ in 0..times {
            let mut router = build(config, vector, known, clock.clone());
            if let Some(mut old) = before.take() {
                router.take_over(&mut old).unwrap_or_else(|error| panic!("{error}"));
                old.finish();
            }
            router.run();
            dispatches += router.dispatches();
            before = Some(router);
        }
        before.iter_mut().for_each(Router::finish);
    }));
    assert!(ran.is_ok(), "vector {vector}: {config}");
    dispatches
}

fn build(config: &str, vector: usize, known: &Classes, clock: Clock) -> Router {
    let parsed = lang::parse(config, "pairs", &[]);
    assert!(!parsed.has_errors(), "{config}\n{}", parsed.render_click());
    let layout = router::layout(parsed.graph, known, 1)
        .unwrap_or_else(|e| panic!("{config}\n{}", lang::render_click(&e)));
    let log = Log::Memory(Default::default());
    let options = Options { log, clock, vector, ..Options::default() };
    let (router, _) = router::build(layout, config.to_owned(), known, options)
        .unwrap_or_else(|e| panic!("{config}\n{}", lang::render_click(&e)));
    router
}
