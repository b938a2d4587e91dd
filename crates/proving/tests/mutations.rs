//! The list of protections follows the code that it takes out.

use std::path::Path;

/// A field of one block of the list; empty if the block has none.
fn field<'a>(block: &'a str, name: &str) -> &'a str {
    let values = block.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    values.map(str::trim_start).next().unwrap_or("")
}

/// Each protection stands once where the list says, so that `mutations.sh` can take it out, and has a story that is to turn red.
#[test]
fn protections_are_where_the_list_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
    let list = read("crates/proving/mutations.txt");
    let blocks: Vec<&str> = list.split("\n\n").filter(|block| !field(block, "name").is_empty()).collect();
    let found = |block: &&str| read(field(block, "file")).matches(field(block, "old")).count();
    let lost: Vec<_> =
        blocks.iter().filter(|block| found(block) != 1).map(|block| field(block, "name")).collect();
    assert!(lost.is_empty(), "not once in its file: {lost:?}");
    let untold: Vec<_> =
        blocks.iter().filter(|b| field(b, "story").is_empty()).map(|b| field(b, "name")).collect();
    assert_eq!(untold, [""; 0], "protections without a story");
    assert!(blocks.len() >= 30, "the list has been cut to {}", blocks.len());
}
