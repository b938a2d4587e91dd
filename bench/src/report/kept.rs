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
    /// What the command printed, or why there is nothing.
    pub(super) result: Result<Value, String>,
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
