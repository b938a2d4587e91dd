//! The element reference in the documentation.

/// The file is what the program prints now.
#[test]
fn reference_is_up_to_date() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/elements.md");
    let output = crate::program(&["elements", "--reference"]).output().expect("the program can be started");
    let now = String::from_utf8(output.stdout).expect("UTF-8");
    let then = std::fs::read_to_string(file).unwrap_or_default();
    let drift = then.lines().zip(now.lines()).position(|(then, now)| then != now);
    assert!(
        then == now,
        "docs/elements.md is out of date (from line {}). It is made from the elements' comments; run:\n\n    \
         cargo run -p clique -- elements --reference > docs/elements.md\n",
        drift.unwrap_or_else(|| then.lines().count().min(now.lines().count())) + 1
    );
}
