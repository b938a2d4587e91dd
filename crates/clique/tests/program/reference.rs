//! What in the documentation the program itself has made: the element reference, and the picture of the demonstration's
//! configuration.

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Checks that a file of the documentation is what the program prints now.
fn is_up_to_date(file: &str, arguments: &[&str]) {
    let output = crate::program(arguments).output().expect("the program can be started");
    let now = String::from_utf8(output.stdout).expect("UTF-8");
    let then = std::fs::read_to_string(format!("{ROOT}/{file}")).unwrap_or_default();
    let drift = then.lines().zip(now.lines()).position(|(then, now)| then != now);
    assert!(
        then == now,
        "{file} is out of date (from line {}). Make it anew:\n\n    cargo run -p clique -- {} > {file}\n",
        drift.unwrap_or_else(|| then.lines().count().min(now.lines().count())) + 1,
        arguments.join(" ").replace(&format!("{ROOT}/"), "")
    );
}

#[test]
fn reference_is_up_to_date() {
    is_up_to_date("docs/elements.md", &["elements", "--reference"]);
}

#[test]
fn picture_is_up_to_date() {
    let config = format!("{ROOT}/conf/ip-router.click");
    is_up_to_date("docs/ip-router.svg", &["graph", "--format", "svg", &config]);
}
