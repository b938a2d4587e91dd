//! The crates import each other in one direction only, and so do their modules, nearly; and they are as safe as they say.

#[path = "architecture/circles.rs"]
mod circles;
#[path = "architecture/source.rs"]
mod source;

use serde_json::json;
use source::Tree;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What crates of elements may use: none uses another but the one that they share.
const ELEMENTS_USE: &[&str] =
    &["ciphers", "device", "elements-shared", "flows", "lang", "lpm", "packet", "rcu", "router", "wire"];

/// Each crate of the workspace, with the crates of the workspace that it may use.
const MAY_USE: &[(&str, &[&str])] = &[
    ("rcu", &[]),
    // For tests and benchmarks only.
    ("rcu-flavours", &["rcu"]),
    ("packet", &[]),
    ("sums", &[]),
    ("wire", &["sums"]),
    ("gcm", &[]),
    ("ciphers", &["gcm", "wire"]),
    ("lang", &[]),
    ("cluster", &[]),
    ("compression", &[]),
    ("lpm", &["compression", "rcu"]),
    ("flows", &["packet"]),
    ("device", &["compression", "packet", "wire"]),
    ("router", &["lang", "packet", "rcu", "wire"]),
    ("elements-shared", &["device", "flows", "lang", "packet", "router", "wire"]),
    ("elements-testing", &["lang", "packet", "router", "wire"]),
    ("elements-analysis", ELEMENTS_USE),
    ("elements-classify", ELEMENTS_USE),
    ("elements-cluster", &["cluster", "elements-shared", "packet", "rcu", "router", "wire"]),
    ("elements-devices", ELEMENTS_USE),
    ("elements-general", ELEMENTS_USE),
    ("elements-legacy", ELEMENTS_USE),
    ("elements-net", ELEMENTS_USE),
    ("elements-routing", ELEMENTS_USE),
    ("elements-streams", ELEMENTS_USE),
    ("elements-translation", ELEMENTS_USE),
    ("elements-wifi", ELEMENTS_USE),
    (
        "elements",
        &[
            "device",
            "router",
            "elements-analysis",
            "elements-classify",
            "elements-cluster",
            "elements-devices",
            "elements-general",
            "elements-legacy",
            "elements-net",
            "elements-routing",
            "elements-streams",
            "elements-translation",
            "elements-wifi",
        ],
    ),
    ("click-tools", &["lang", "router", "wire"]),
    (
        "control",
        &[
            "ciphers",
            "device",
            "elements",
            "elements-shared",
            "lang",
            "lpm",
            "packet",
            "rcu",
            "router",
            "wire",
        ],
    ),
    ("http", &["rcu", "router"]),
    (
        "clique",
        &[
            "click-tools",
            "cluster",
            "control",
            "device",
            "elements",
            "elements-shared",
            "http",
            "lang",
            "lpm",
            "packet",
            "rcu",
            "router",
            "wire",
        ],
    ),
    // For tests only.
    ("proving", &["device", "elements", "lang", "packet", "rcu", "router"]),
    (
        "bench",
        &[
            "cluster",
            "control",
            "device",
            "elements",
            "flows",
            "gcm",
            "lang",
            "lpm",
            "packet",
            "rcu",
            "rcu-flavours",
            "router",
            "wire",
        ],
    ),
];

/// Crates without a line of unsafe code.
const SAFE: &[&str] = &[
    "wire",
    "ciphers",
    "lang",
    "compression",
    "cluster",
    "flows",
    "router",
    "click-tools",
    "elements",
    "control",
    "http",
    "clique",
    "proving",
];

/// Modules that use each other in a circle, at most. `circles.rs` says what counts as use.
const CIRCLE_MAX: usize = 4;

/// Crates that still have a larger circle.
const LARGER: &[&str] = &[];

fn packages() -> Vec<serde_json::Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let metadata: serde_json::Value = serde_json::from_str(&text).expect("cargo prints JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

fn short(name: &str) -> &str {
    name.strip_prefix("clique-").unwrap_or(name)
}

#[test]
fn imports_point_one_way() {
    let may_use: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    for package in packages() {
        let name = short(package["name"].as_str().unwrap_or_default()).to_owned();
        let allowed = may_use
            .get(name.as_str())
            .unwrap_or_else(|| panic!("crate '{name}' has no place in the architecture"));
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            // What lives in this workspace has a path; tests may use what they like.
            if dependency["path"].is_null() || dependency["kind"] == "dev" {
                continue;
            }
            let used = short(dependency["name"].as_str().unwrap_or_default());
            assert!(allowed.contains(&used), "'{name}' must not use '{used}'");
        }
    }
}

#[test]
fn safe_crates_forbid_unsafe_code() {
    for package in packages() {
        let name = short(package["name"].as_str().unwrap_or_default()).to_owned();
        if !SAFE.contains(&name.as_str()) && !name.starts_with("elements-") {
            continue;
        }
        let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default()).with_file_name("src");
        let root = ["lib.rs", "main.rs"].map(|file| folder.join(file)).into_iter().find(|file| file.exists());
        let text = std::fs::read_to_string(root.expect("a crate root")).expect("readable");
        assert!(text.contains("#![forbid(unsafe_code)]"), "crate '{name}' does not forbid unsafe code");
    }
}

/// The circles of a crate that are too large, in words.
fn large_circles(package: &serde_json::Value) -> Vec<String> {
    let targets = package["targets"].as_array().into_iter().flatten();
    let roots = targets.filter(|target| target["kind"] == json!(["lib"]) || target["kind"] == json!(["bin"]));
    let mut large = Vec::new();
    for root in roots {
        let root = Path::new(root["src_path"].as_str().unwrap_or_default());
        let folder = root.parent().expect("a file is in a folder");
        let tree = Tree::read(root, &|path| std::fs::read_to_string(path).ok());
        for circle in tree.circles().iter().filter(|circle| circle.len() > CIRCLE_MAX) {
            let mut text = format!("a circle of {} modules, {CIRCLE_MAX} at most:", circle.len());
            for (from, to, what) in circle {
                let [from, to] = [from, to].map(|file| file.strip_prefix(folder).unwrap_or(file).display());
                text += &format!("\n  {from} -> {to}: {what}");
            }
            large.push(text);
        }
    }
    large
}

#[test]
fn modules_make_no_large_circle() {
    let mut wrong = Vec::new();
    let mut larger = LARGER.to_vec();
    for package in packages() {
        let name = short(package["name"].as_str().unwrap_or_default()).to_owned();
        let excepted = larger.iter().position(|other| *other == name).map(|at| larger.remove(at)).is_some();
        let large = large_circles(&package);
        match (excepted, large.is_empty()) {
            (false, false) => wrong.extend(large.iter().map(|text| format!("'{name}' has {text}"))),
            (true, true) => {
                wrong.push(format!("'{name}' has no large circle any more: no exception is needed"))
            }
            _ => {}
        }
    }
    wrong.extend(larger.iter().map(|name| format!("there is no crate '{name}' that needs an exception")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
