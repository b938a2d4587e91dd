//! Results in a folder.

use super::depth::Depth;
use super::stability::Stability;
use super::topics::{self, Topic};
use crate::machine::Machine;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What is kept of a topic.
#[derive(Deserialize, Serialize)]
pub(super) struct Kept {
    pub(super) topic: String,
    pub(super) depth: Depth,
    pub(super) command: Vec<String>,
    pub(super) commit: String,
    pub(super) seconds: f64,
    /// The share of processor time that the machine's host took meanwhile.
    pub(super) steal_percent: f64,
    /// Whether the machine was quiet before and after. Those of the account are of when the report began, or was last gone on with.
    #[serde(default)]
    pub(super) checks: Vec<Stability>,
    /// What the command printed, or why there is nothing.
    pub(super) result: Result<Value, String>,
}

impl Kept {
    /// Whether it was measured by the program of a commit. A name that can stand for many programs is none of a commit.
    pub(super) fn is_of(&self, commit: &str) -> bool {
        self.commit == commit && commit != "unknown" && !commit.ends_with("-dirty")
    }

    /// Whether the machine was quiet while it was measured; `at_first` has to do where the topic has no checks of its own.
    pub(super) fn holds(&self, at_first: &Stability) -> bool {
        match self.checks.as_slice() {
            [] => at_first.holds(),
            checks => checks.iter().all(Stability::holds),
        }
    }
}

/// The machine's account, beside the results.
#[derive(Deserialize, Serialize)]
pub(super) struct Account {
    pub(super) machine: Machine,
    pub(super) stability: Stability,
}

/// A folder of results, read.
pub(super) struct Results {
    pub(super) account: Account,
    pub(super) kept: Vec<Kept>,
}

impl Results {
    pub(super) fn read(folder: &Path) -> Result<Results, String> {
        let account = crate::rcu::read_json(&folder.join("machine.json"))?;
        let of = |topic: &Topic| crate::rcu::read_json(&raw(folder, topic.name)).ok();
        Ok(Results { account, kept: topics::TOPICS.iter().filter_map(of).collect() })
    }

    /// The result of a topic that could be measured.
    pub(super) fn of(&self, topic: &str) -> Option<&Value> {
        self.kept.iter().find(|kept| kept.topic == topic)?.result.as_ref().ok()
    }
}

/// Where the result of a topic is.
pub(super) fn raw(folder: &Path, topic: &str) -> PathBuf {
    folder.join("raw").join(topic).with_extension("json")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches figures of one program that are taken for those of another.
    #[test]
    fn only_a_clean_commit_is_known_again() {
        let kept = |commit: &str| Kept {
            topic: "esp".to_owned(),
            depth: Depth::Tiny,
            command: Vec::new(),
            commit: commit.to_owned(),
            seconds: 0.0,
            steal_percent: 0.0,
            checks: Vec::new(),
            result: Ok(Value::Null),
        };
        assert!(kept("0123abcd").is_of("0123abcd"));
        assert!(!kept("0123abcd").is_of("0123abce"));
        for many in ["unknown", "0123abcd-dirty"] {
            assert!(!kept(many).is_of(many), "{many}");
        }
    }
}
