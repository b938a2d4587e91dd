//! Configurations that no router may take, made of right ones.

/// The kinds of wrong.
pub const KINDS: [&str; 9] =
    ["syntax", "class", "argument", "port", "unconnected", "twice", "interface", "state", "state"];

/// What all configurations have at their end, on no packet's way: a node of a cluster, which has no namesake. It refuses the state
/// of a node with another number, when all elements before it have been asked.
const STUBBORN: &str =
    "Idle -> stubborn :: VLBNode(NODE 0, NODES 2, KEY secret, HELLO 1s, HOLD 5s) -> Discard;
Idle -> [1] stubborn [1] -> Discard;";

/// A right configuration that can be made wrong in every way.
pub fn spoilable(config: &str) -> String {
    format!("{config}\n{STUBBORN}\n")
}

/// A configuration that is [`spoilable`] with something wrong at its end; `None` for a kind that there is not.
pub fn spoil(config: &str, kind: &str) -> Option<String> {
    if kind == "state" {
        return Some(config.replace("VLBNode(NODE 0,", "VLBNode(NODE 1,"));
    }
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
