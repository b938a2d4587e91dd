//! Drawing a story from a seed.

use super::{DeviceFate, Knobs, Step, Story, Weather};
use crate::capture;
use crate::family::Family;
use crate::machine::QUEUES;
use crate::wrong;
use fastrand::Rng;

/// Steps of a story, at least and at most.
const STEPS: std::ops::RangeInclusive<usize> = 3..=14;

/// Steps more in which machines are in trouble, at most.
const TROUBLES: usize = 3;

/// The story of a family that a seed stands for.
pub fn draw(family: &dyn Family, seed: u64) -> Story {
    let mut rng = Rng::with_seed(seed ^ 0x5707_1e5a_9b1c_6d2f);
    let mut knobs = Knobs::default();
    for knob in family.knobs() {
        // Half of the knobs stay where they are plainest.
        if rng.bool() {
            knobs.set(knob.name, rng.u32(..knob.positions));
        }
    }
    let mut story = Story {
        family: family.name().to_owned(),
        seed,
        workers: rng.usize(1..=QUEUES),
        vector: [1, 1, 32, 128][rng.usize(..4)],
        knobs,
        steps: Vec::new(),
    };
    let network = family.network(&story.knobs);
    let names = Names {
        machines: network.machines.iter().map(|(name, _)| name.clone()).collect(),
        links: network.links.iter().map(|link| link.name.clone()).collect(),
        hosts: network.hosts.iter().map(|host| host.name.clone()).collect(),
    };
    for _ in 0..rng.usize(STEPS) {
        let step = step(family, &story, &names, &mut rng);
        story.steps.push(step);
        if rng.bool() {
            story.steps.push(Step::Wait(pause(&mut rng)));
        }
    }
    let mut rng = Rng::with_seed(seed ^ 0x3c6e_f372_fe94_f82b);
    for _ in 0..rng.usize(..=TROUBLES) {
        let mut at = rng.usize(..=story.steps.len());
        for step in trouble(&story, &network.machines, &mut rng) {
            story.steps.insert(at, step);
            at = rng.usize(at + 1..=story.steps.len());
        }
    }
    let mut rng = Rng::with_seed(seed ^ 0x91d4_b7e3_05ca_682f);
    if let Some(trial) = trial(family, &names, &mut rng) {
        story.steps.insert(rng.usize(..=story.steps.len()), trial);
    }
    let mut rng = Rng::with_seed(seed ^ 0x5be0_cd19_137e_2179);
    if rng.u32(..3) == 0 {
        let at = rng.usize(..=story.steps.len());
        story.steps.insert(at, Step::Upgrade(one(&names.machines, &mut rng).clone()));
    }
    story
}

/// A configuration that is taken back after a while, in every other story. It is drawn apart, too.
fn trial(family: &dyn Family, names: &Names, rng: &mut Rng) -> Option<Step> {
    let live: Vec<_> = family.knobs().iter().filter(|knob| knob.live).collect();
    if live.is_empty() || rng.bool() {
        return None;
    }
    let (machine, knob) = (one(&names.machines, rng).clone(), live[rng.usize(..live.len())]);
    Some(Step::Trial {
        machine,
        knob: knob.name.to_owned(),
        value: rng.u32(..knob.positions),
        ns: pause(rng),
    })
}

/// What steps can be about.
struct Names {
    machines: Vec<String>,
    links: Vec<String>,
    hosts: Vec<String>,
}

fn one<'a>(names: &'a [String], rng: &mut Rng) -> &'a String {
    &names[rng.usize(..names.len())]
}

fn step(family: &dyn Family, story: &Story, names: &Names, rng: &mut Rng) -> Step {
    let machine = one(&names.machines, rng).clone();
    match rng.u32(..100) {
        0..60 => family.step(story, rng),
        60..75 => {
            let live: Vec<_> = family.knobs().iter().filter(|knob| knob.live).collect();
            match live.len() {
                0 => Step::Read(machine),
                count => {
                    let knob = live[rng.usize(..count)];
                    Step::Swap { machine, knob: knob.name.to_owned(), value: rng.u32(..knob.positions) }
                }
            }
        }
        75..82 => Step::Wrong { machine, kind: wrong::KINDS[rng.usize(..wrong::KINDS.len())].to_owned() },
        82..87 => Step::Read(machine),
        87..91 => Step::Restart { machine, workers: rng.usize(1..=QUEUES) },
        91..95 => Step::Link { link: one(&names.links, rng).clone(), weather: weather(rng) },
        95..98 => Step::Move(one(&names.hosts, rng).clone()),
        _ => Step::Leap(pause(rng) * 1_000),
    }
}

/// What machines have to bear beside all that. It is drawn apart, so that the rest of a story stays as it was.
fn trouble(story: &Story, machines: &[(String, usize)], rng: &mut Rng) -> Vec<Step> {
    let (machine, ports) = machines[rng.usize(..machines.len())].clone();
    match rng.u32(..20) {
        0..8 => {
            let ns = [100_000, 1_000_000, 5_000_000, 40_000_000][rng.usize(..4)] * rng.i64(1..=3);
            vec![Step::Stall { machine, worker: rng.usize(..story.workers), ns }]
        }
        8..14 => {
            let kind = capture::KINDS[rng.usize(..capture::KINDS.len())].to_owned();
            vec![Step::Capture { machine, kind }]
        }
        14..18 => {
            let port = rng.usize(..ports);
            let returns = if rng.bool() { DeviceFate::Back } else { DeviceFate::Anew };
            let device = |fate| Step::Device { machine: machine.clone(), port, fate };
            vec![device(DeviceFate::Gone), device(returns)]
        }
        _ => vec![Step::Storm { machine, seed: rng.u32(..1_000) }],
    }
}

fn weather(rng: &mut Rng) -> Weather {
    match rng.u32(..6) {
        0 => Weather::Down,
        1 => Weather::Loss(rng.u32(1..300)),
        2 => Weather::Jitter(pause(rng)),
        _ => Weather::Good,
    }
}

/// Some time, more often short than long.
fn pause(rng: &mut Rng) -> i64 {
    [1_000, 30_000, 200_000, 1_000_000, 5_000_000, 20_000_000, 100_000_000][rng.usize(..7)] * rng.i64(1..=3)
}
