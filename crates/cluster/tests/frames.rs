//! Frames, hellos and rosters of any bytes: nothing panics, and a node's own hellos stay readable.

#[path = "frames/mod.rs"]
mod frames;
#[path = "../../../fuzz/mutations.rs"]
mod mutations;

#[test]
fn the_corpus_is_replayed() {
    mutations::corpus("cluster_frames").iter().for_each(|data| frames::run(data));
}

#[test]
fn frames_that_are_nearly_right() {
    mutations::each("cluster_frames", frames::run);
}
