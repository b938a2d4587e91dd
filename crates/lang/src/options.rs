//! What a parse may depend on besides the text.

use crate::classes::ClassSet;

/// Finds a library: given its name and the file that requires it, gives its file name and text.
pub type FindLibrary<'a> = &'a dyn Fn(&str, &str) -> Option<(String, String)>;

/// Bounds on what a configuration may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of program text.
    pub source: usize,
    /// Nesting of compound elements and groups in the text.
    pub nesting: usize,
    /// Nesting of compound elements after expansion.
    pub expansion_depth: usize,
    /// Elements after expansion, the ends of compound elements and groups included.
    pub elements: usize,
    /// Connections after expansion.
    pub connections: usize,
    /// Bytes of names and configuration strings, and steps, that expansion may take.
    pub expansion: usize,
    /// Highest port number.
    pub port: u32,
    /// Diagnostics, after which the rest is not looked at.
    pub diagnostics: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source: 1 << 28,
            nesting: 50,
            expansion_depth: 200,
            elements: 1 << 18,
            connections: 1 << 20,
            expansion: 1 << 26,
            port: 65_535,
            diagnostics: 200,
        }
    }
}

/// What a parse may depend on besides the text.
#[derive(Default, Clone)]
pub struct Options<'a> {
    /// Variables set from outside; they replace those that the file defines in its outermost scope.
    pub params: &'a [(String, String)],
    /// The element classes that exist; without them every name may be a class.
    pub classes: Option<&'a dyn ClassSet>,
    /// Finds the files of `require(library ...)`; without it there are none.
    pub library: Option<FindLibrary<'a>>,
    /// Says whether a package that the text requires is there, which earns a warning if not; without it all are.
    pub package: Option<&'a dyn Fn(&str) -> bool>,
    /// Leaves references to variables of the outermost scope as they are, as Click's tools do; then the
    /// [definitions](crate::Graph::defines) belong to the graph.
    pub keep_variables: bool,
    /// Orders elements as Click's tools do: inside a compound element, the components of another one stand in its place, where
    /// Click's drivers put them behind all else.
    pub in_place: bool,
    /// Leaves out errors that may only follow from a statement that cannot be read: of what it may have declared or connected. Click
    /// reports them.
    pub causes_only: bool,
    /// Bounds.
    pub limits: Limits,
}
