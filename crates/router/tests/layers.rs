//! The modules of the crate stand in layers: each imports from its own layer and from those that `lib.rs` lists before it, and no two
//! import each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Modules by layer, in the order of `lib.rs`.
fn layers(source: &Path) -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(source.join("lib.rs")).expect("a crate root");
    let opened = text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(" {"));
    let modules = |layer: &str| {
        let folder = std::fs::read_dir(source.join(layer)).expect("a folder for each layer");
        let names = folder.map(|entry| entry.expect("readable").path());
        names.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect()
    };
    opened.map(|layer| (layer.to_owned(), modules(layer))).collect()
}

/// The modules of layers, `layer::module`, that a file imports.
fn imports(source: &Path, module: &str, layers: &[(String, Vec<String>)]) -> BTreeSet<String> {
    let file = source.join(module.replace("::", "/")).with_extension("rs");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let mut found = BTreeSet::new();
    for path in code.split("crate::").skip(1) {
        let Some((layer, rest)) = path.split_once("::") else { continue };
        let Some((_, modules)) = layers.iter().find(|(name, _)| name == layer) else { continue };
        let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        assert!(modules.iter().any(|known| known == &rest[..end]), "{module}: import modules one by one");
        found.insert(format!("{layer}::{}", &rest[..end]));
    }
    found.remove(module);
    found
}

#[test]
fn imports_point_down() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let layers = layers(&source);
    assert!(layers.len() > 5, "{layers:?}");
    let place = |module: &str| {
        let layer = module.split("::").next();
        layers.iter().position(|(name, _)| Some(name.as_str()) == layer).expect("a layer")
    };
    let names =
        layers.iter().flat_map(|(layer, modules)| modules.iter().map(move |m| format!("{layer}::{m}")));
    let mut all: BTreeMap<String, BTreeSet<String>> =
        names.map(|name| (name.clone(), imports(&source, &name, &layers))).collect();
    for (module, imports) in &all {
        for import in imports {
            assert!(place(import) <= place(module), "{module} imports {import}, which is above it");
        }
    }
    // Modules that import nothing that is left are taken away; what then stays imports each other.
    while let Some(free) = all.iter().find(|(_, imports)| imports.is_empty()).map(|(name, _)| name.clone()) {
        all.remove(&free);
        for imports in all.values_mut() {
            imports.remove(&free);
        }
    }
    assert!(all.is_empty(), "a circle: {all:?}");
}
