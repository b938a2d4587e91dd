//! Element classes: those of the program that uses the language, and those that a text defines.

use crate::scope::ClassId;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The element classes that exist.
pub trait ClassSet {
    /// Whether there is a class called `name`.
    fn contains(&self, name: &str) -> bool;
    /// All names, among which similar ones are looked for when one is unknown.
    fn names(&self) -> Vec<&str>;
    /// What to do instead of using a class that does not exist here but elsewhere, as a sentence.
    fn remedy(&self, name: &str) -> Option<&str> {
        let _ = name;
        None
    }
}

impl ClassSet for [&str] {
    fn contains(&self, name: &str) -> bool {
        <[&str]>::contains(self, &name)
    }
    fn names(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> ClassSet for [&str; N] {
    fn contains(&self, name: &str) -> bool {
        self.as_slice().contains(&name)
    }
    fn names(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl ClassSet for BTreeSet<String> {
    fn contains(&self, name: &str) -> bool {
        self.contains(name)
    }
    fn names(&self) -> Vec<&str> {
        self.iter().map(String::as_str).collect()
    }
}

impl ClassSet for HashSet<String> {
    fn contains(&self, name: &str) -> bool {
        self.contains(name)
    }
    fn names(&self) -> Vec<&str> {
        self.iter().map(String::as_str).collect()
    }
}

/// What an element is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An `input` or `output` of a compound class.
    Pseudo,
    /// An element of a class that the text does not define.
    Primitive(String),
    /// A compound element: the index of its class in [`Nested::classes`](crate::Nested::classes).
    Compound(usize),
}

/// What a class is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClassKind {
    /// A place that connections pass through: groups, `input`, `output`.
    Tunnel,
    /// Something that an error was reported for.
    Error,
    /// An element class of the program.
    Primitive,
    /// A compound class: index of its scope.
    Compound(usize),
}

/// A class.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) kind: ClassKind,
}

/// The class of tunnels.
pub(crate) const TUNNEL: ClassId = 0;
/// The class of elements that could not be resolved.
pub(crate) const ERROR: ClassId = 1;

/// All classes of a parse, and which name means which at this point of the text.
pub(crate) struct Classes<'a> {
    known: Option<&'a dyn ClassSet>,
    all: Vec<Class>,
    primitives: HashMap<String, ClassId>,
    visible: HashMap<String, ClassId>,
    /// Bindings that leaving a scope restores.
    hidden: Vec<(String, Option<ClassId>)>,
}

impl<'a> Classes<'a> {
    pub(crate) fn new(known: Option<&'a dyn ClassSet>) -> Self {
        let class = |name: &str, kind| Class { name: name.into(), kind };
        Self {
            known,
            all: vec![class("<tunnel>", ClassKind::Tunnel), class("Error", ClassKind::Error)],
            primitives: HashMap::new(),
            visible: HashMap::new(),
            hidden: Vec::new(),
        }
    }

    /// Whether any name may be a class, because it is not known which exist.
    pub(crate) fn open(&self) -> bool {
        self.known.is_none()
    }

    pub(crate) fn get(&self, id: ClassId) -> &Class {
        &self.all[id]
    }

    /// What an element of a class is.
    pub(crate) fn kind(&self, id: ClassId) -> Kind {
        let class = self.get(id);
        match class.kind {
            ClassKind::Tunnel => Kind::Pseudo,
            ClassKind::Compound(index) => Kind::Compound(index),
            ClassKind::Error | ClassKind::Primitive => Kind::Primitive(class.name.clone()),
        }
    }

    fn add(&mut self, class: Class) -> ClassId {
        self.all.push(class);
        self.all.len() - 1
    }

    /// The primitive class called `name`.
    pub(crate) fn primitive(&mut self, name: &str) -> ClassId {
        if let Some(&id) = self.primitives.get(name) {
            return id;
        }
        let id = self.add(Class { name: name.into(), kind: ClassKind::Primitive });
        self.primitives.insert(name.into(), id);
        id
    }

    /// The class that `name` certainly means here.
    pub(crate) fn find(&mut self, name: &str) -> Option<ClassId> {
        if let Some(&id) = self.visible.get(name) {
            return Some(id);
        }
        self.known.is_some_and(|known| known.contains(name)).then(|| self.primitive(name))
    }

    /// The class that `name` means where only a class can stand.
    pub(crate) fn find_or_assume(&mut self, name: &str) -> Option<ClassId> {
        self.find(name).or_else(|| self.open().then(|| self.primitive(name)))
    }

    /// Adds a class and makes `name` mean it, until the scope ends.
    pub(crate) fn define(&mut self, name: &str, kind: ClassKind) -> ClassId {
        let id = self.add(Class { name: name.into(), kind });
        self.bind(name, id);
        id
    }

    /// Adds a class that no name means by itself.
    pub(crate) fn anonymous(&mut self, name: &str, kind: ClassKind) -> ClassId {
        self.add(Class { name: name.into(), kind })
    }

    /// Makes `name` mean the class `id`, until the scope ends.
    pub(crate) fn bind(&mut self, name: &str, id: ClassId) {
        if !name.is_empty() {
            let before = self.visible.insert(name.into(), id);
            self.hidden.push((name.into(), before));
        }
    }

    /// A mark to go back to at the end of the scope that begins here.
    pub(crate) fn mark(&self) -> usize {
        self.hidden.len()
    }

    /// Undoes the bindings since `mark`.
    pub(crate) fn restore(&mut self, mark: usize) {
        while self.hidden.len() > mark {
            match self.hidden.pop() {
                Some((name, Some(id))) => self.visible.insert(name, id),
                Some((name, None)) => self.visible.remove(&name),
                None => return,
            };
        }
    }

    /// What to do instead of using the unknown class `name`.
    pub(crate) fn remedy(&self, name: &str) -> Option<&'a str> {
        self.known?.remedy(name)
    }

    /// A class whose name is similar to `name`.
    pub(crate) fn similar(&self, name: &str) -> Option<String> {
        let known = self.known.map(ClassSet::names).unwrap_or_default();
        let defined = self.visible.iter().filter(|(_, id)| self.all[**id].kind != ClassKind::Error);
        similar(name, known.into_iter().chain(defined.map(|(n, _)| n.as_str())))
    }
}

/// The candidate most similar to `name`, if one is similar at all.
pub fn similar<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let limit = ((name.chars().count() + 1) / 3).min(3);
    let distance = |candidate: &'a str| {
        let d = if candidate.eq_ignore_ascii_case(name) { 0 } else { distance(name, candidate, limit)? };
        Some((d, candidate))
    };
    let best = candidates.into_iter().filter(|c| *c != name).filter_map(distance).min()?;
    Some(best.1.to_owned())
}

/// Edit distance with transpositions, if it is at most `limit`.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    const LONGEST: usize = 40;
    let a: Vec<char> = a.chars().take(LONGEST + 1).collect();
    let b: Vec<char> = b.chars().take(LONGEST + 1).collect();
    if a.len() > LONGEST || b.len() > LONGEST || a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    Some(last[b.len()]).filter(|&d| d <= limit)
}

#[cfg(test)]
mod tests {
    use super::similar;

    #[test]
    fn the_most_similar_name_is_suggested() {
        let names = ["Discard", "Counter", "Queue", "Tee", "ToDump"];
        for (name, expected) in [
            ("Disacrd", Some("Discard")),
            ("discard", Some("Discard")),
            ("Conuter", Some("Counter")),
            ("Te", Some("Tee")),
            ("ToDmp", Some("ToDump")),
            ("Frobnicate", None),
            ("", None),
        ] {
            assert_eq!(similar(name, names).as_deref(), expected, "{name}");
        }
    }
}
