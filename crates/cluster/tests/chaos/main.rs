//! A cluster in which everything goes wrong: nodes crash and come back, links are cut, nodes are paused, slow, drained, and
//! started twice. Whatever happens, no packet goes round, is delivered twice, out of order or at the wrong place, and where a
//! way exists packets arrive again a hundred milliseconds after the last mishap.
//!
//! `cargo test` runs a sample of seeds; `CHAOS_SEEDS=10000 cargo test --release -p clique-cluster --test chaos` runs all,
//! `CHAOS_FIRST=n CHAOS_SEEDS=1` repeats one exactly.

mod world;

use world::World;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Every seed is a different story; none breaks an invariant.
#[test]
fn no_story_breaks_an_invariant() {
    let first = number("CHAOS_FIRST", 0);
    let (mut delivered, mut mishaps, mut judged) = (0, 0, 0);
    for seed in first..first + number("CHAOS_SEEDS", 24) {
        let world = World::run(seed);
        assert!(
            world.broken.is_empty(),
            "CHAOS_FIRST={seed}: {}\n{}",
            world.broken[0],
            world.story.join("\n")
        );
        delivered += world.delivered;
        mishaps += world.story.len();
        judged += world.judged;
    }
    println!("{delivered} packets delivered, {judged} of which had to be, {mishaps} mishaps");
    assert!(delivered > 0 && mishaps > 0 && judged > 0);
}

/// The same seed tells the same story.
#[test]
fn stories_repeat() {
    let (one, other) = (World::run(7), World::run(7));
    assert_eq!((one.delivered, one.story, one.drops), (other.delivered, other.story, other.drops));
}
