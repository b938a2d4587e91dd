//! The modules of a crate, as far as their use of each other is concerned, read from its source.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Gives a file's text, if there is such a file.
type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// What a `use` declaration names.
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    /// What it is called from then on; nothing if it is all of a module (`*`).
    pub(crate) name: Option<String>,
    pub(crate) public: bool,
    /// In the body of a function, where the name is of no use to other modules.
    pub(crate) local: bool,
}

/// A module, or a block `mod x { .. }`.
pub(crate) struct Module {
    /// The number of its file.
    pub(crate) file: usize,
    pub(crate) parent: Option<usize>,
    /// Where its children's files are.
    pub(crate) folder: PathBuf,
    pub(crate) children: BTreeMap<String, usize>,
    /// What it defines.
    pub(crate) items: BTreeSet<String>,
    pub(crate) imports: Vec<Import>,
    /// What code names elsewhere: by a path, and the first word of each.
    pub(crate) paths: BTreeSet<Vec<String>>,
    pub(crate) mentioned: BTreeSet<String>,
}

/// The modules of a crate.
pub(crate) struct Tree {
    pub(crate) files: Vec<PathBuf>,
    /// The root is the first.
    pub(crate) modules: Vec<Module>,
    /// Macros that are exported, which puts them at the crate's root, and the module that defines each.
    pub(crate) macros: BTreeMap<String, usize>,
}

impl Tree {
    /// Reads a crate from the file of its root on.
    pub(crate) fn read(root: &Path, read: Read<'_>) -> Tree {
        let mut tree = Tree { files: Vec::new(), modules: Vec::new(), macros: BTreeMap::new() };
        let folder = root.parent().expect("a file is in a folder");
        tree.read_file(root, folder, None, read);
        tree
    }

    fn read_file(&mut self, path: &Path, folder: &Path, parent: Option<usize>, read: Read<'_>) -> usize {
        let text = read(path).unwrap_or_else(|| panic!("{} cannot be read", path.display()));
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self.files.push(path.to_owned());
        let number = self.add(self.files.len() - 1, folder, parent);
        Reader { tree: self, module: number, path, read }.items(tokens);
        number
    }

    fn add(&mut self, file: usize, folder: &Path, parent: Option<usize>) -> usize {
        self.modules.push(Module {
            file,
            parent,
            folder: folder.to_owned(),
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            imports: Vec::new(),
            paths: BTreeSet::new(),
            mentioned: BTreeSet::new(),
        });
        self.modules.len() - 1
    }
}

/// What attributes say of the item behind them.
#[derive(Default)]
struct Attributes {
    test: bool,
    exported: bool,
    path: Option<String>,
    public: bool,
}

/// Words behind which comes the name of what is defined.
const DEFINES: &[&str] = &["struct", "enum", "union", "trait", "type", "const", "static", "fn"];

/// Words with which an item begins, so that a comma does not end it.
const BEGINS: &[&str] = &[
    "struct", "enum", "union", "trait", "type", "const", "static", "fn", "impl", "mod", "unsafe", "async",
    "extern",
];

/// Reads one module.
struct Reader<'a> {
    tree: &'a mut Tree,
    module: usize,
    path: &'a Path,
    read: Read<'a>,
}

fn word(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string().trim_start_matches("r#").to_owned()),
        _ => None,
    }
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn group(token: Option<&TokenTree>, wanted: Delimiter) -> Option<Vec<TokenTree>> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == wanted => {
            Some(group.stream().into_iter().collect())
        }
        _ => None,
    }
}

impl Reader<'_> {
    fn this(&mut self) -> &mut Module {
        &mut self.tree.modules[self.module]
    }

    /// Reads what a module consists of.
    fn items(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut at, mut attributes) = (0, Attributes::default());
        while at < tokens.len() {
            let next = tokens.get(at + 1);
            at = match word(tokens.get(at)).as_deref() {
                _ if is_punct(tokens.get(at), '#') => {
                    let inner = is_punct(next, '!');
                    let end = at + 2 + usize::from(inner);
                    attribute(tokens.get(end - 1), &mut attributes);
                    if inner && attributes.test {
                        return;
                    }
                    end
                }
                Some(_) if attributes.test => {
                    attributes = Attributes::default();
                    behind_item(&tokens, at)
                }
                Some("mod") => {
                    let attributes = std::mem::take(&mut attributes);
                    self.child(&word(next).expect("a name"), tokens.get(at + 2), &attributes);
                    at + 3
                }
                Some("macro_rules") => {
                    self.defined(word(tokens.get(at + 2)), attributes.exported);
                    at + 2
                }
                Some("pub") => {
                    attributes.public = true;
                    behind_visibility(&tokens, at)
                }
                Some(keyword) if DEFINES.contains(&keyword) && word(next).is_some() => {
                    self.defined(word(next), false);
                    at + 1
                }
                _ => {
                    let end = self.code(&tokens, at, attributes.public, false);
                    if is_punct(tokens.get(end - 1), ';')
                        || group(tokens.get(end - 1), Delimiter::Brace).is_some()
                    {
                        attributes = Attributes::default();
                    }
                    end
                }
            };
        }
    }

    fn defined(&mut self, name: Option<String>, exported: bool) {
        let Some(name) = name.filter(|name| !DEFINES.contains(&name.as_str())) else { return };
        if exported {
            self.tree.macros.insert(name.clone(), self.module);
        }
        self.this().items.insert(name);
    }

    /// Reads `mod name;` or `mod name { .. }`.
    fn child(&mut self, name: &str, body: Option<&TokenTree>, attributes: &Attributes) {
        let (folder, parent) = (self.this().folder.clone(), Some(self.module));
        let below = folder.join(name);
        let child = match group(body, Delimiter::Brace) {
            Some(tokens) => {
                let file = self.this().file;
                let child = self.tree.add(file, &below, parent);
                self.this().children.insert(name.to_owned(), child);
                let tokens = tokens.into_iter().collect();
                Reader { tree: self.tree, module: child, path: self.path, read: self.read }.items(tokens);
                return;
            }
            None => match &attributes.path {
                Some(path) => {
                    let path = self.path.with_file_name(path);
                    let folder = path.parent().expect("a file is in a folder").to_owned();
                    self.tree.read_file(&path, &folder, parent, self.read)
                }
                None => {
                    let path = folder.join(format!("{name}.rs"));
                    let path = if (self.read)(&path).is_some() { path } else { below.join("mod.rs") };
                    self.tree.read_file(&path, &below, parent, self.read)
                }
            },
        };
        self.this().children.insert(name.to_owned(), child);
    }

    /// Reads code, of which nothing is defined that others see.
    fn body(&mut self, tokens: &[TokenTree]) {
        let (mut at, mut attributes) = (0, Attributes::default());
        while at < tokens.len() {
            if is_punct(tokens.get(at), '#') && group(tokens.get(at + 1), Delimiter::Bracket).is_some() {
                attribute(tokens.get(at + 1), &mut attributes);
                at += 2;
            } else if std::mem::take(&mut attributes).test {
                at = behind_item(tokens, at);
            } else if word(tokens.get(at)).as_deref() == Some("pub") {
                at = behind_visibility(tokens, at);
            } else {
                at = self.code(tokens, at, false, true);
            }
        }
    }

    /// Reads one thing: a `use` declaration, a path, or what is between brackets. Says where the next one begins.
    fn code(&mut self, tokens: &[TokenTree], at: usize, public: bool, local: bool) -> usize {
        if let TokenTree::Group(group) = &tokens[at] {
            let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
            self.body(&tokens);
            return at + 1;
        }
        let Some(first) = word(tokens.get(at)) else { return at + 1 };
        // `impl Trait + use<'a>` is something else.
        if first == "use" && !is_punct(tokens.get(at + 1), '<') {
            let end = (at..tokens.len()).find(|end| is_punct(tokens.get(*end), ';')).unwrap_or(tokens.len());
            self.imports(&[], &tokens[at + 1..end], public, local);
            return (end + 1).min(tokens.len());
        }
        let (path, end) = path_at(tokens, at);
        self.this().mentioned.insert(first);
        if path.len() > 1 {
            self.this().paths.insert(path);
        }
        end
    }

    /// Reads what is behind `use`, or a part of it.
    fn imports(&mut self, before: &[String], tokens: &[TokenTree], public: bool, local: bool) {
        let (named, end) = path_at(tokens, 0);
        let mut path: Vec<String> = before.iter().chain(&named).cloned().collect();
        let end = if named.is_empty() || end == tokens.len() { end } else { behind_colons(tokens, end) };
        if let Some(parts) = group(tokens.get(end), Delimiter::Brace) {
            for part in parts.split(|token| is_punct(Some(token), ',')).filter(|part| !part.is_empty()) {
                self.imports(&path, part, public, local);
            }
            return;
        }
        let renamed =
            word(tokens.get(end)).filter(|word| word == "as").and_then(|_| word(tokens.get(end + 1)));
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = match is_punct(tokens.get(end), '*') {
            true => None,
            false => renamed.or_else(|| path.last().cloned()),
        };
        self.this().imports.push(Import { path, name, public, local });
    }
}

/// The names that `::` joins, from a place on, and the place behind them.
fn path_at(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    at = behind_colons(tokens, at);
    while let Some(name) = word(tokens.get(at)).filter(|name| path.is_empty() || name != "as") {
        path.push(name);
        at += 1;
        let next = behind_colons(tokens, at);
        if next == at || word(tokens.get(next)).is_none() {
            break;
        }
        at = next;
    }
    (path, at)
}

fn behind_colons(tokens: &[TokenTree], at: usize) -> usize {
    let colons = is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':');
    if colons { at + 2 } else { at }
}

fn behind_visibility(tokens: &[TokenTree], at: usize) -> usize {
    let limits = group(tokens.get(at + 1), Delimiter::Parenthesis).and_then(|inside| word(inside.first()));
    let limited = limits.is_some_and(|word| ["crate", "super", "self", "in"].contains(&word.as_str()));
    at + 1 + usize::from(limited)
}

/// Where the item ends that begins here. A field or an arm ends with a comma.
fn behind_item(tokens: &[TokenTree], begin: usize) -> usize {
    let mut at = begin;
    if word(tokens.get(at)).as_deref() == Some("pub") {
        at = behind_visibility(tokens, at);
    }
    let first = word(tokens.get(at)).unwrap_or_default();
    for (end, token) in tokens.iter().enumerate().skip(at) {
        let semicolon = is_punct(Some(token), ';');
        let brace = group(Some(token), Delimiter::Brace).is_some() && first != "use";
        let comma = is_punct(Some(token), ',') && !BEGINS.contains(&first.as_str());
        if semicolon || brace || comma {
            return end + 1;
        }
    }
    tokens.len()
}

/// Reads one attribute.
fn attribute(brackets: Option<&TokenTree>, attributes: &mut Attributes) {
    let inside = group(brackets, Delimiter::Bracket).unwrap_or_default();
    match word(inside.first()).as_deref() {
        Some("test") => attributes.test = true,
        Some("macro_export") => attributes.exported = true,
        Some("cfg") => {
            let condition = group(inside.get(1), Delimiter::Parenthesis).unwrap_or_default();
            attributes.test |= needs_test(&condition);
        }
        Some("path") => {
            attributes.path = inside.get(2).map(|literal| literal.to_string().trim_matches('"').to_owned());
        }
        _ => {}
    }
}

/// Whether a condition holds in tests only.
fn needs_test(condition: &[TokenTree]) -> bool {
    let parts = group(condition.get(1), Delimiter::Parenthesis).unwrap_or_default();
    let mut parts = parts.split(|token| is_punct(Some(token), ',')).filter(|part| !part.is_empty());
    match word(condition.first()).as_deref() {
        Some("test") => true,
        Some("all") => parts.any(needs_test),
        Some("any") => parts.all(needs_test),
        _ => false,
    }
}
