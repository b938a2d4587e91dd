//! Configurations that no router may take, made of right ones.

/// The kinds of wrong.
pub const KINDS: [&str; 7] = ["syntax", "class", "argument", "port", "unconnected", "twice", "interface"];

/// A configuration with something wrong at its end; `None` for a kind that there is not.
pub fn spoil(config: &str, kind: &str) -> Option<String> {
    let wrong = match kind {
        "syntax" => "Idle -> -> Discard;",
        "class" => "Idle -> NoSuchClass -> Discard;",
        "argument" => "Idle -> Paint(red) -> Discard;",
        "port" => "Idle -> [3] Counter -> Discard;",
        "unconnected" => "spoilt :: Classifier(12/0800, -);",
        "twice" => "spoilt :: Idle; spoilt :: Idle; spoilt -> Discard;",
        // What fails late: the element is made, and there is no such interface.
        "interface" => "FromMemory(eth99) -> Discard;",
        _ => return None,
    };
    Some(format!("{config}\n{wrong}\n"))
}
