//! Where a text mentions classes and elements.

use crate::classes::{Classes, Kind};
use crate::diag::Span;
use crate::scope::{ClassId, Scope};

/// A place that mentions a class or an element.
#[derive(Debug, Clone)]
pub struct Mark {
    /// The name; where there is none, the brace or dots in its place.
    pub span: Span,
    /// What it mentions.
    pub mention: Mention,
}

/// What a [`Mark`] mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mention {
    /// A class that is declared here.
    ClassDeclaration(Kind),
    /// A class that is declared elsewhere.
    Class(Kind),
    /// An element that is declared here; with its configuration string the declaration goes on to this byte.
    ElementDeclaration(ElementRef, u32),
    /// An element that is declared elsewhere.
    Element(ElementRef),
}

/// An element of one of a text's bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementRef {
    /// The compound class whose body it is in; none for what stands outside of all.
    pub class: Option<usize>,
    /// Its index in the body.
    pub element: usize,
}

/// A mark while the text is read, when bodies are not complete.
pub(crate) struct RawMark {
    span: Span,
    /// The scope's number.
    scope: usize,
    mention: RawMention,
}

/// What a [`RawMark`] mentions: classes, or nodes of the scope.
pub(crate) enum RawMention {
    ClassDeclaration(ClassId),
    Class(ClassId),
    ElementDeclaration(usize, u32),
    Element(usize),
}

impl RawMark {
    /// A mention in the scope with this number.
    pub(crate) fn new(span: Span, scope: usize, mention: RawMention) -> RawMark {
        RawMark { span, scope, mention }
    }
}

/// The marks of a text that is read; `index` says which element of a scope's body a node is, if it is one.
pub(crate) fn finish(
    marks: Vec<RawMark>,
    compounds: &[Scope],
    classes: &Classes<'_>,
    index: impl Fn(Option<usize>, usize) -> Option<usize>,
) -> Vec<Mark> {
    let mut of_number = vec![None; compounds.len() + 1];
    for (i, scope) in compounds.iter().enumerate() {
        of_number[scope.number] = Some(i);
    }
    let finished = |RawMark { span, scope, mention }: RawMark| {
        let class = of_number.get(scope).copied().flatten();
        let place = |node| Some(ElementRef { class, element: index(class, node)? });
        let mention = match mention {
            RawMention::ClassDeclaration(id) => Mention::ClassDeclaration(classes.kind(id)),
            RawMention::Class(id) => Mention::Class(classes.kind(id)),
            RawMention::ElementDeclaration(node, end) => Mention::ElementDeclaration(place(node)?, end),
            RawMention::Element(node) => Mention::Element(place(node)?),
        };
        Some(Mark { span, mention })
    };
    marks.into_iter().filter_map(finished).collect()
}
