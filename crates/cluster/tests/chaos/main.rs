//! A cluster, a mesh or a fly, in which everything goes wrong: nodes crash and come back, links are cut, nodes are
//! paused, slow, drained, started twice, and swapped to other workers: each has one to four. Whatever happens, no packet goes round, is delivered
//! twice, out of order or at the wrong place, and where a way exists packets arrive again a hundred milliseconds after the last mishap. In a third kind of
//! story nodes remember flows: one that drains hands them over, one that dies has an heir, also while flows move. No flow is at two nodes, and
//! none is lost that is older than a tenth of a second.
//!
//! `cargo test` runs a sample of seeds; `CHAOS_SEEDS=10000 cargo test --release -p clique-cluster --test chaos` runs
//! all, with `mesh`, `fly` or `heirs` behind it those of one kind. `CHAOS_FIRST=n CHAOS_SEEDS=1` repeats one exactly,
//! `CHAOS_RECORD=FILE` writes down what happened, in `FILE-mesh.json`, `FILE-fly.json` and `FILE-heirs.json`.

mod heirs;
mod world;

use std::collections::BTreeMap;
use std::fmt::Write;
use world::{Shape, World};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What happened in many stories.
#[derive(Default)]
struct Sum {
    delivered: u64,
    /// Packets that had to arrive.
    judged: u64,
    /// Mishaps by kind.
    mishaps: BTreeMap<String, u64>,
    /// Packets that did not arrive, by reason, and hellos that were not believed.
    drops: BTreeMap<&'static str, u64>,
}

impl Sum {
    fn add(&mut self, world: &World) {
        self.delivered += world.delivered;
        self.judged += world.judged;
        for line in &world.story {
            let kind = line.split(" us ").nth(1).and_then(|mishap| mishap.split('(').next());
            *self.mishaps.entry(kind.unwrap_or_default().to_lowercase()).or_default() += 1;
        }
        world.drops.iter().for_each(|(reason, count)| *self.drops.entry(reason).or_default() += count);
    }

    fn json(&self, shape: Shape, first: u64, seeds: u64) -> String {
        fn object<K: std::fmt::Display>(counts: &BTreeMap<K, u64>) -> String {
            let pairs: Vec<_> = counts.iter().map(|(name, count)| format!("\"{name}\": {count}")).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        let mut text = format!(
            "{{\n  \"shape\": \"{shape:?}\", \"first_seed\": {first}, \"seeds\": {seeds}, \"broken_invariants\": 0,\n"
        );
        // Writing into a string cannot fail.
        let _ = writeln!(text, "  \"delivered\": {}, \"judged\": {},", self.delivered, self.judged);
        let _ = writeln!(text, "  \"mishaps\": {},", object(&self.mishaps));
        let _ = writeln!(text, "  \"drops\": {}\n}}", object(&self.drops));
        text
    }
}

/// Every seed is a different story; none breaks an invariant.
fn no_story_breaks_an_invariant(shape: Shape, sample: u64) {
    let (first, seeds) = (number("CHAOS_FIRST", 0), number("CHAOS_SEEDS", sample));
    let mut sum = Sum::default();
    for seed in first..first + seeds {
        let world = World::run(shape, seed);
        assert!(
            world.broken.is_empty(),
            "{shape:?}, CHAOS_FIRST={seed}: {}\n{}",
            world.broken[0],
            world.story.join("\n")
        );
        sum.add(&world);
    }
    let record = sum.json(shape, first, seeds);
    println!("{record}");
    if let Ok(file) = std::env::var("CHAOS_RECORD") {
        let file = format!("{file}-{}.json", format!("{shape:?}").to_lowercase());
        std::fs::write(&file, &record).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    assert!(sum.delivered > 0 && !sum.mishaps.is_empty() && sum.judged > 0);
}

#[test]
fn no_story_of_a_mesh_breaks_an_invariant() {
    no_story_breaks_an_invariant(Shape::Mesh, 24);
}

#[test]
fn no_story_of_a_fly_breaks_an_invariant() {
    no_story_breaks_an_invariant(Shape::Fly, 8);
}

#[test]
fn no_story_of_heirs_breaks_an_invariant() {
    no_story_breaks_an_invariant(Shape::Heirs, 24);
}

#[test]
fn the_same_seed_tells_the_same_story() {
    for shape in [Shape::Mesh, Shape::Fly, Shape::Heirs] {
        let (one, other) = (World::run(shape, 7), World::run(shape, 7));
        assert_eq!((one.delivered, one.story, one.drops), (other.delivered, other.story, other.drops));
    }
}
