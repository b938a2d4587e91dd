//! Any text as an argument of any class, and written to any handler: there may be an error, but never a panic, and the router goes on.
//!
//! Texts are made of words that elements look for (numbers at the ends of ranges, addresses, units, keywords) and of some that no
//! element knows. Everything runs in a folder that goes away, as some of these texts are names of files.

#[allow(dead_code)] // tests with packets use the rest
mod stages;

use elements_testing::run_to_end;
use router::{Call, Class, Classes, Clock, Described, Log, Metric, Options, Router};
use stages::stages;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

const WORDS: [&str; 72] = [
    "",
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "-2",
    "15",
    "16",
    "31",
    "32",
    "63",
    "64",
    "127",
    "128",
    "255",
    "256",
    "1500",
    "32767",
    "65535",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0x",
    "0xff",
    "1e3",
    "1e308",
    "-0.5",
    "0.000000001",
    "nan",
    "inf",
    "1.",
    ".5",
    "true",
    "false",
    "-",
    "*",
    "/",
    "all",
    "10.0.0.1",
    "10.0.0.0/8",
    "10.0.0.0/33",
    "0.0.0.0/0",
    "255.255.255.255",
    "10.0.0.1:80",
    "2001:db8::1",
    "::/0",
    "::/129",
    "2:0:0:0:0:1",
    "ff:ff:ff:ff:ff:ff",
    "1Gbps",
    "1kBps",
    "1s",
    "5ms",
    "1y",
    "ip src 10.0.0.1",
    "tcp",
    "udp",
    "x",
    "pattern",
    "\"",
    "\\<0",
    "\\<ff00>",
    "\u{e9}\u{0}\u{1f600}",
    "%d%s",
];

/// How many texts each class gets.
const TRIES: usize = 12;
/// How many each handler gets.
const WRITES: usize = 6;

/// Classes that change the machine, that are there to spend time, or whose purpose is to fail without a word.
const LEFT_OUT: [&str; 8] =
    ["Error", "FromHost", "KernelTap", "KernelTun", "ToHost", "WorkPackage", "NullTask", "SchedOrderTest"];

static KNOWN: LazyLock<Classes> = LazyLock::new(|| stages::known(&elements::classes(), None));

/// A folder of this process's own. Tests of other files are other processes.
fn leave() {
    static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));
    std::env::set_current_dir(FOLDER.path()).expect("a folder");
}

fn one<'a>(rng: &mut fastrand::Rng, words: &[&'a str]) -> &'a str {
    words[rng.usize(0..words.len())]
}

/// Up to four words, of these or of all, in the ways in which texts join them.
fn text(rng: &mut fastrand::Rng, keywords: &[&str]) -> String {
    let mut text = String::new();
    for i in 0..rng.usize(0..4) {
        if i > 0 {
            text += one(rng, &[" ", " ", " ", ",", "/", ":", "-", "\n", ""]);
        }
        text += if rng.u8(0..4) == 0 && !keywords.is_empty() { one(rng, keywords) } else { one(rng, &WORDS) };
    }
    text
}

/// The names of a class's arguments, as its documentation has them.
fn keywords(class: &Described) -> Vec<&str> {
    let words =
        class.doc.lines().filter_map(|line| line.trim_start_matches("//!").trim().strip_prefix("- `"));
    words.filter_map(|line| line.split(['`', ' ']).next()).filter(|name| !name.is_empty()).collect()
}

/// An argument, with a keyword in front of it or without.
fn argument(rng: &mut fastrand::Rng, keywords: &[&str]) -> String {
    let keyword = if rng.bool() && !keywords.is_empty() { one(rng, keywords) } else { "" };
    format!("{keyword} {}", text(rng, keywords)).replace(['"', '(', ')', '\\'], "")
}

fn build(config: &str) -> Option<Router> {
    let made = catch_unwind(|| {
        let parsed = lang::parse(config, "texts", &[]);
        if parsed.has_errors() {
            return None;
        }
        let layout = router::layout(parsed.graph, &KNOWN, 1).ok()?;
        let log = Log::Memory(Default::default());
        let options = Options { log, clock: Clock::simulated(), ..Options::default() };
        let built = router::build(layout, config.to_owned(), &KNOWN, options);
        // An error says something.
        built.map_err(|errors| assert!(!errors.is_empty(), "{config}: no word")).ok()
    });
    made.unwrap_or_else(|_| panic!("built: {config}")).map(|(router, _)| router)
}

/// How many ports a class wants, at least.
fn ports(side: &str) -> usize {
    side.trim_end_matches('+').split('-').next().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// A configuration with such an element, all of its ports connected.
fn connected(class: &Class, arguments: &str) -> String {
    let (inputs, outputs) = class.ports.split_once('/').unwrap_or((class.ports, class.ports));
    let mut config = format!("x :: {}({arguments});", class.name);
    (0..ports(inputs)).for_each(|i| config += &format!(" Idle -> [{i}] x;"));
    (0..ports(outputs)).for_each(|i| config += &format!(" x [{i}] -> Discard;"));
    config
}

#[test]
fn as_arguments() {
    leave();
    let mut rng = fastrand::Rng::with_seed(1);
    let mut built = 0;
    for class in KNOWN.iter().filter(|class| !LEFT_OUT.contains(&class.name)) {
        let keywords = keywords(class);
        for _ in 0..TRIES {
            let arguments: Vec<String> =
                (0..rng.usize(0..5)).map(|_| argument(&mut rng, &keywords)).collect();
            built += u32::from(build(&connected(class, &arguments.join(", "))).is_some());
        }
    }
    assert!(built > 500, "{built} configurations were right");
}

/// A configuration with one of its arguments changed.
fn with_a_change(rng: &mut fastrand::Rng, config: &str) -> String {
    let places: Vec<usize> = config.match_indices(['(', ',']).map(|(at, _)| at + 1).collect();
    if places.is_empty() {
        return config.to_owned();
    }
    let from = places[rng.usize(0..places.len())];
    let to = config[from..].find([',', ')']).map_or(config.len(), |len| from + len);
    format!("{} {} {}", &config[..from], argument(rng, &[]), &config[to..])
}

const GIVEN: &str = "Given(\\<4500002e00000000ff1165ba0a0000010a00010204d20035001a0000000000000000000000000000000000000000000>)";

/// Writes to all handlers of a router, and reads all with a parameter, while packets pass.
fn talk(router: &mut Router, config: &str, rng: &mut fastrand::Rng) {
    let info = router.info().clone();
    for (element, node) in
        info.nodes.iter().enumerate().filter(|(_, node)| !LEFT_OUT.contains(&node.class.name))
    {
        let Some(handlers) = info.handlers(element) else { continue };
        let keywords = keywords(node.class);
        for handler in handlers.list() {
            let path = format!("{}.{}", node.name, handler.name);
            for _ in 0..WRITES {
                let value = text(rng, &keywords);
                let said = catch_unwind(AssertUnwindSafe(|| {
                    let wrote = handler.writable().then(|| router.call(Call::write(&*path, &*value)));
                    let read = handler.readable().then(|| router.call(Call::read(&*path, &*value)));
                    [wrote, read]
                        .into_iter()
                        .flatten()
                        .filter_map(Result::err)
                        .all(|error| !error.message.trim().is_empty())
                }));
                assert!(
                    said.unwrap_or_else(|_| panic!("{path} {value:?} in {config}")),
                    "{path} {value:?}: no word"
                );
            }
        }
    }
    let ran = catch_unwind(AssertUnwindSafe(|| {
        run_to_end(router);
        router.finish();
    }));
    assert!(ran.is_ok(), "after texts to all handlers: {config}");
}

/// Metrics of one name are one metric, whichever element declares it.
fn check_metrics(router: &Router, known: &mut HashMap<&'static str, &'static Metric>) {
    let declared = (0..router.info().nodes.len()).filter_map(|element| router.info().handlers(element));
    for metric in declared.flat_map(|handlers| handlers.list()).filter_map(|handler| handler.metric) {
        let first = *known.entry(metric.name).or_insert(metric);
        assert_eq!((first.kind, first.help), (metric.kind, metric.help), "{}", metric.name);
    }
}

#[test]
fn to_handlers() {
    leave();
    let mut metrics = HashMap::new();
    let mut rng = fastrand::Rng::with_seed(2);
    for stage in stages().iter().filter(|stage| !LEFT_OUT.iter().any(|class| stage.text.contains(class))) {
        let config = stages::through(GIVEN, "MarkIPHeader", &[*stage]);
        let mut router = build(&config).unwrap_or_else(|| panic!("{config}"));
        check_metrics(&router, &mut metrics);
        talk(&mut router, &config, &mut rng);
        for _ in 0..TRIES {
            build(&with_a_change(&mut rng, &config));
        }
    }
    assert!(metrics.len() > 5, "{} metrics", metrics.len());
}
