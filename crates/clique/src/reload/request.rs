//! What a client asks of the program about its configuration, and the answers: JSON, as the data of `RELOAD`.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Replace the configuration by this text.
    Load(Load),
    /// Keep the configuration that is on trial.
    Confirm,
    /// Go back to the configuration of this number, or to the one before.
    RollBack { number: Option<u64> },
    /// Tell which configurations have run, or the text of one.
    History { number: Option<u64> },
    /// Have another program take the router's place: this one, or the one at the path that the router was started from.
    Upgrade { program: Option<PathBuf>, dry_run: bool },
}

/// A configuration that is to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    /// What messages call it.
    pub(super) name: String,
    pub(super) text: String,
    /// Values that take the place of those that the program was started with.
    pub(super) parameters: Vec<(String, String)>,
    /// Only say what would change.
    pub(super) dry_run: bool,
    /// Go back to the configuration before, unless this one is confirmed within so many seconds.
    pub(super) confirm_s: Option<u64>,
    /// Whether messages may be coloured.
    pub(super) color: bool,
}

/// An answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(crate) enum Answer {
    /// What would change.
    Planned {
        difference: Difference,
        warnings: Vec<String>,
        /// The values of its parameters: those given, and others that the program was started with.
        #[serde(default)]
        parameters: Vec<(String, String)>,
        /// Where the router searches for libraries.
        #[serde(default)]
        clickpath: String,
    },
    /// A configuration runs.
    Loaded {
        number: u64,
        difference: Difference,
        warnings: Vec<String>,
        confirm_s: Option<u64>,
    },
    /// It stays.
    Confirmed {
        number: u64,
    },
    /// An earlier one runs again.
    RolledBack {
        from: u64,
        number: u64,
        warnings: Vec<String>,
    },
    History {
        configurations: Vec<Listed>,
        confirm_within_s: Option<u64>,
    },
    /// The text of one.
    Text {
        number: u64,
        name: String,
        text: String,
        /// Values of its parameters.
        #[serde(default)]
        parameters: Vec<(String, String)>,
    },
    /// Another program has taken the router's place, or could.
    Upgraded(Upgraded),
    /// Nothing has changed: for people, and as `clique check --json` lists what is wrong.
    Refused {
        message: String,
        diagnostics: serde_json::Value,
    },
}

/// What became of an upgrade.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub(crate) struct Upgraded {
    /// The versions of both programs.
    pub(crate) from: String,
    pub(crate) to: String,
    /// Whether it was only tried.
    pub(crate) dry_run: bool,
    /// For how long nothing was forwarded, in milliseconds.
    pub(crate) gap_ms: f64,
    /// Elements whose state went over.
    pub(crate) carried: usize,
    /// State that elements had gathered and that is gone, in sentences.
    pub(crate) lost: Vec<String>,
}

/// A configuration that has run.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(super) number: u64,
    pub(super) name: String,
    /// When it was put in its place last: seconds since 1970.
    pub(super) loaded_s: u64,
    pub(super) by: super::history::By,
    pub(super) runs: bool,
    /// What became of it, if it was not confirmed.
    pub(super) note: Option<String>,
}

/// What is different between two configurations.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(super) elements_added: Vec<Named>,
    pub(super) elements_removed: Vec<Named>,
    pub(super) arguments: Vec<Arguments>,
    pub(super) connections_added: Vec<String>,
    pub(super) connections_removed: Vec<String>,
    pub(super) state_lost: Vec<Lost>,
}

/// An element.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Named {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) arguments: String,
}

/// An element whose arguments are different.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) removed: Vec<String>,
    pub(super) added: Vec<String>,
}

/// What an element has gathered that no element takes over.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(super) name: String,
    pub(super) class: String,
    /// Why: the element is gone, or is of another class.
    pub(super) why: String,
    pub(super) amounts: Vec<Amount>,
}

/// How much of something there is, in the words of an element's metrics.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(super) what: String,
    pub(super) value: String,
}
