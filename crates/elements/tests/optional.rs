//! A program without the features knows which classes it lacks.

use router::Class;

/// The names of the classes that features bring in, sorted.
fn names() -> Vec<&'static str> {
    let families = [
        elements_analysis::FAMILIES,
        elements_streams::FAMILIES,
        elements_wifi::FAMILIES,
        elements_legacy::FAMILIES,
    ];
    let classes = families.into_iter().flatten().copied().flatten().copied();
    let aliases: [&[Class]; 2] = [&elements_analysis::ALIASES, &elements_streams::ALIASES];
    let mut names: Vec<_> = classes.chain(aliases.into_iter().flatten()).map(|class| class.name).collect();
    names.sort_unstable();
    names
}

/// `UPDATE_EXPECT=1` writes the list anew.
#[test]
fn the_list_has_every_class_behind_a_feature() {
    expect_test::expect_file!["../src/optional.txt"].assert_eq(&(names().join("\n") + "\n"));
}

#[test]
fn only_classes_behind_a_feature_are_optional() {
    let mut optional: Vec<_> =
        elements::classes().names().filter(|name| elements::is_optional(name)).collect();
    optional.sort_unstable();
    assert_eq!(optional, names());
    for other in ["", "\n", "Wifi", "Nonsense"] {
        assert!(!elements::is_optional(other), "{other:?}");
    }
}
