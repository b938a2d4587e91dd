//! A sample of all families' stories, and that a story is always the same story.

use proving::{family, story};

/// Seeds of each family: a minute or two for all of them.
const SEEDS: u64 = 40;

/// Nothing goes wrong in any of them.
#[test]
fn stories_come_to_a_good_end() {
    let mut wrong = Vec::new();
    for family in family::all() {
        // Where routers talk to each other all the time, a story takes five times as long.
        let seeds = if family.warm_up_ns() > 0 { SEEDS / 5 } else { SEEDS };
        for seed in 0..seeds {
            let story = story::draw(*family, seed);
            let outcome = story::run(&story).expect("a story that can be told");
            if let Some(fault) = outcome.fault() {
                wrong.push(format!("{} {seed}: {fault}", family.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} stories go wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The same seed brings the same frames at the same times.
#[test]
fn a_story_told_twice_is_the_same() {
    for family in family::all() {
        for seed in 1_000..1_003 {
            let story = story::draw(*family, seed);
            let [first, again] = [0, 1].map(|_| story::run(&story).expect("a story that can be told"));
            assert_eq!(
                (&first.trace, first.frames),
                (&again.trace, again.frames),
                "{} {seed}",
                family.name()
            );
            assert_eq!(first.faults, again.faults);
        }
    }
}

/// What is told is about something: messages travel, and steps of every kind are taken.
#[test]
fn stories_are_about_something() {
    for family in family::all() {
        let stories: Vec<_> = (0..200).map(|seed| story::draw(*family, seed)).collect();
        let steps: String =
            stories.iter().flat_map(|story| &story.steps).map(|step| format!("{step}\n")).collect();
        for kind in [
            "flow", "wait", "leap", "read", "wrong", "restart", "link", "move", "stall", "capture", "device",
            "storm", "trial",
        ] {
            assert!(steps.lines().any(|line| line.starts_with(kind)), "no '{kind}' in {}", family.name());
        }
        let traffic = (0..3).map(|seed| story::run(&stories[seed]).expect("a story that can be told"));
        assert!(traffic.map(|outcome| outcome.messages).sum::<usize>() > 0);
    }
}
