//! An element of a configuration, without its instances.

use crate::configuration::class::Described;
use lang::{Landmark, Span};

/// A port of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// Push, or pull.
    pub push: bool,
    /// The ports at the other end: element and port.
    pub peers: Vec<(usize, usize)>,
}

/// An element of the configuration, before and beside its instances.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its full name.
    pub name: String,
    /// Its class.
    pub class: &'static Described,
    /// Its configuration string.
    pub config: String,
    /// Where it was declared.
    pub landmark: Landmark,
    /// Where it was declared, in bytes.
    pub span: Span,
    /// Its inputs in use.
    pub inputs: Vec<Port>,
    /// Its outputs in use.
    pub outputs: Vec<Port>,
    /// The workers that have an instance of it.
    pub workers: Vec<usize>,
    /// The one of them that its own work is for, if it has work of its own.
    pub home: usize,
}

impl Node {
    /// `name :: Class`, as messages say it.
    pub fn declaration(&self) -> String {
        format!("{} :: {}", self.name, self.class.name)
    }
}
