//! A hot swap that is refused leaves every element as it was: its handlers say the same, it treats packets in the same way, and it hands
//! the same on to the next configuration.

#[allow(dead_code)] // tests with made-up stories use the rest
mod stages;

use elements_testing::{ip6_samples, samples, transport_samples};
use router::{Call, Class, Classes, Clock, Config, ConfigError, Cx, Element, Log, Options, Router};
use stages::{BEFORE, stages};
use std::any::Any;
use std::fmt::Write;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};
use wire::ipv4::FLAG_MF;

/// An element that, if its argument says so, takes over from no other, whatever has been decided before.
const STUBBORN: Class = Class::new("Stubborn", stubborn).ports("0/0");

struct Stubborn(bool);

fn stubborn(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Stubborn(config.text() == "true")))
}

impl Element for Stubborn {
    fn can_take_over(&mut self, _cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        assert!(old.is::<Stubborn>(), "the old one");
        if self.0 { Err("never".into()) } else { Ok(()) }
    }
}

/// Elements write files where the process is.
static FOLDER: Mutex<()> = Mutex::new(());

static KNOWN: LazyLock<Classes> = LazyLock::new(|| stages::known(&elements::classes(), Some(&STUBBORN)));

fn build(config: &str, clock: &Clock) -> Router {
    let parsed = lang::parse(config, "swaps", &[]);
    assert!(!parsed.has_errors(), "{config}\n{}", parsed.render_click());
    let say = |errors: Vec<lang::Diagnostic>| format!("{config}\n{}", lang::render_click(&errors));
    let layout = router::layout(parsed.graph, &KNOWN, 1).map_err(say).unwrap_or_else(|e| panic!("{e}"));
    let options = Options {
        log: Log::Memory(Default::default()),
        clock: clock.clone(),
        vector: 8,
        counted: true,
        ..Options::default()
    };
    let built = router::build(layout, config.to_owned(), &KNOWN, options);
    built.map_err(say).unwrap_or_else(|e| panic!("{e}")).0
}

/// What all handlers say that can be read without a parameter.
fn values(router: &mut Router) -> String {
    let (info, mut said) = (router.info().clone(), String::new());
    for (element, node) in info.nodes.iter().enumerate() {
        let handlers = info.handlers(element).map_or(&[][..], |handlers| handlers.list());
        for handler in handlers.iter().filter(|handler| handler.readable()) {
            if MEASURED.contains(&&*handler.name) {
                continue;
            }
            let path = format!("{}.{}", node.name, handler.name);
            let value = router.call(Call::read(&*path, "")).unwrap_or_else(|error| error.to_string());
            writeln!(said, "{path}: {value}").expect("a string has room");
        }
    }
    said + &router.info().log.text()
}

/// Handlers that measure the machine, or how long something took on it.
const MEASURED: [&str; 2] = ["cycles", "cycles_pp"];

/// What is to be seen of two routers, of which the second takes over from the first; with `refusals`, swaps are refused
/// before, while the first one has done some of its work and all of it.
fn life(config: &str, folder: &Path, refusals: bool) -> Vec<String> {
    std::env::set_current_dir(folder).expect("a folder");
    let clock = Clock::simulated();
    let text = |refuses: bool| format!("{config}\nstubborn :: Stubborn({refuses});");
    let refuse = |router: &mut Router| {
        let mut new = build(&text(true), &clock);
        let error = new.take_over(router).expect_err("refused");
        assert_eq!(error.to_string(), "'stubborn' cannot take over its state: never", "{config}");
        new.finish();
    };
    let mut seen = Vec::new();
    let mut first = build(&text(false), &clock);
    if refusals {
        refuse(&mut first);
    }
    first.run();
    if refusals {
        refuse(&mut first);
    }
    seen.push(values(&mut first));
    first.info().adjust_run_count(1);
    first.resume();
    first.run();
    if refusals {
        refuse(&mut first);
    }
    seen.push(values(&mut first));
    let mut second = build(&text(false), &clock);
    second.take_over(&mut first).unwrap_or_else(|error| panic!("{config}: {error}"));
    first.finish();
    second.run();
    seen.push(values(&mut second));
    second.finish();
    seen.push(second.info().log.text());
    seen
}

/// Packets of several kinds, so that each element keeps something of some.
fn packets() -> String {
    let udp = |id: u16| samples::edited(samples::udp(40), |ip| ip.set_id(id));
    let mut text = String::new();
    for round in 0..3 {
        let mut packets: Vec<Vec<u8>> = (3 * round..3 * round + 3).map(udp).collect();
        packets.push(samples::edited(samples::udp(40), |ip| {
            ip.set_id(100 + round);
            ip.set_fragment_field(FLAG_MF);
        }));
        packets.push(transport_samples::carrying(6, 0, &transport_samples::tcp(&[round as u8; 9])));
        packets.push(ip6_samples::udp(30 + usize::from(round)));
        // A fragment that more are to follow.
        packets
            .push(ip6_samples::with_body(44, &[&[17, 0, 0, 1, 0, 0, 0, round as u8][..], &[7; 16]].concat()));
        packets.push(ethernet(round as u8, 0x0800, &samples::udp(20)));
        packets.push(ethernet(round as u8, 0x86dd, &ip6_samples::udp(20)));
        for packet in packets {
            text += "\\<";
            packet.iter().for_each(|byte| write!(text, "{byte:02x}").expect("a string has room"));
            text += ">, ";
        }
        text += "PAUSE, ";
    }
    text.truncate(text.len() - ", PAUSE, ".len());
    text
}

fn ethernet(host: u8, kind: u16, payload: &[u8]) -> Vec<u8> {
    let addresses = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, host];
    [&addresses[..], &kind.to_be_bytes(), payload].concat()
}

#[test]
fn every_class_goes_on_after_a_refusal() {
    let _alone = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    let (folder, mut changed) = (tempfile::tempdir().expect("a folder"), Vec::new());
    for (number, stage) in stages().iter().enumerate() {
        let before = BEFORE[number % BEFORE.len()];
        let config = stages::through(&format!("Given({})", packets()), before, &[*stage]);
        let lives = [false, true].map(|refusals| {
            let folder = folder.path().join(format!("{number}-{refusals}"));
            std::fs::create_dir(&folder).expect("a folder");
            life(&config, &folder, refusals)
        });
        for (at, (untouched, refused)) in lives[0].iter().zip(&lives[1]).enumerate() {
            if let Some((a, b)) = untouched.lines().zip(refused.lines()).find(|(a, b)| a != b) {
                changed.push(format!("{}, {at}: '{a}' became '{b}'", stage.text));
                break;
            }
            if untouched != refused {
                changed.push(format!("{}, {at}: {untouched} became {refused}", stage.text));
                break;
            }
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// What an element holds goes on to its namesake in a configuration that takes the place of another one, whatever the class.
#[test]
fn every_class_hands_over_what_it_holds() {
    let _alone = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    let (folder, mut lost, mut held) = (tempfile::tempdir().expect("a folder"), Vec::new(), 0);
    std::env::set_current_dir(&folder).expect("a folder");
    for (number, stage) in stages().iter().enumerate() {
        let config =
            stages::through(&format!("Given({})", packets()), BEFORE[number % BEFORE.len()], &[*stage]);
        let clock = Clock::simulated();
        let mut first = build(&config, &clock);
        first.run();
        held += first.balance().elements.iter().map(|entry| entry.held).sum::<u64>();
        let mut second = build(&config, &clock);
        second.take_over(&mut first).unwrap_or_else(|error| panic!("{config}: {error}"));
        if let Err(faults) = second.balance().check_swap(&first.balance()) {
            lost.extend(faults.iter().map(|fault| format!("{}: {fault}", stage.text)));
        }
        first.finish();
        second.finish();
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
    assert!(held > 100, "so few packets were held that nothing was tried: {held}");
}
