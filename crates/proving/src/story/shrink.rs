//! Making a story that goes wrong shorter and plainer, as long as it still goes wrong.

use super::{Step, Story};

/// The shortest story found that still fails. `fails` is asked at most `tries` times; it must be true of `story`.
pub fn shrink(story: &Story, tries: usize, mut fails: impl FnMut(&Story) -> bool) -> Story {
    let (mut best, mut left) = (story.clone(), tries);
    loop {
        let next = candidates(&best).into_iter().find(|candidate| {
            left = left.saturating_sub(1);
            left > 0 && fails(candidate)
        });
        match next {
            Some(next) => best = next,
            None => return best,
        }
    }
}

/// Stories that are plainer in one respect, the greatest gains first.
fn candidates(story: &Story) -> Vec<Story> {
    let mut found = without_steps(story);
    for (name, _) in story.knobs.turned() {
        found.push(Story { knobs: story.knobs.with(name, 0), ..story.clone() });
    }
    let plainer = |workers, vector| Story { workers, vector, ..story.clone() };
    found.extend((1..story.workers).map(|workers| plainer(workers, story.vector)));
    if story.vector > 1 {
        found.push(plainer(story.workers, 1));
    }
    for (at, step) in story.steps.iter().enumerate() {
        for step in plainer_steps(step) {
            let mut story = story.clone();
            story.steps[at] = step;
            found.push(story);
        }
    }
    found
}

/// The story without some of its steps: halves first, single steps last.
fn without_steps(story: &Story) -> Vec<Story> {
    let (mut found, mut len) = (Vec::new(), story.steps.len() / 2);
    while len > 0 {
        for from in (0..story.steps.len()).step_by(len) {
            let mut story = story.clone();
            let to = (from + len).min(story.steps.len());
            story.steps.drain(from..to);
            found.push(story);
        }
        len /= 2;
    }
    found
}

fn plainer_steps(step: &Step) -> Vec<Step> {
    let mut found = Vec::new();
    match step {
        Step::Flow(flow) => {
            let mut push = |change: &dyn Fn(&mut super::FlowStep)| {
                let mut plainer = flow.clone();
                change(&mut plainer);
                if plainer != *flow {
                    found.push(Step::Flow(plainer));
                }
            };
            push(&|flow| flow.count = 1);
            push(&|flow| flow.count = flow.count.div_ceil(2));
            push(&|flow| flow.count -= u32::from(flow.count > 1));
            push(&|flow| flow.size = flow.size.min(64));
            push(&|flow| flow.ttl = 64);
            push(&|flow| flow.whole = false);
            push(&|flow| flow.ecn = 0);
            push(&|flow| flow.spread = false);
            push(&|flow| flow.gap_ns = 1_000_000);
        }
        Step::Wait(ns) if *ns > 1_000_000 => found.push(Step::Wait(1_000_000)),
        Step::Leap(ns) if *ns > 1_000_000_000 => found.push(Step::Leap(1_000_000_000)),
        Step::Trial { machine, knob, value, ns } => {
            let trial = |value, ns| Step::Trial { machine: machine.clone(), knob: knob.clone(), value, ns };
            found.push(Step::Swap { machine: machine.clone(), knob: knob.clone(), value: *value });
            if *ns > 1_000_000 {
                found.push(trial(*value, 1_000_000));
            }
            if *value > 1 {
                found.push(trial(1, *ns));
            }
        }
        Step::Swap { machine, knob, value } if *value > 0 => {
            found.push(Step::Swap { machine: machine.clone(), knob: knob.clone(), value: 0 });
        }
        _ => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{family, story};

    /// What fails needs two steps and one knob; nothing else is left.
    #[test]
    fn what_does_not_matter_goes() {
        let family = family::all()[0];
        let needs = |story: &Story| {
            let reads = story.steps.iter().filter(|step| matches!(step, Step::Read(_))).count();
            reads >= 2 && story.workers >= 2
        };
        let long = (0..).map(|seed| story::draw(family, seed)).find(needs).unwrap();
        let short = shrink(&long, 10_000, needs);
        assert_eq!((short.steps.len(), short.workers, short.vector), (2, 2, 1));
        assert_eq!(short.knobs.turned().count(), 0);
    }
}
