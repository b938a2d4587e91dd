//! Configurations that say what comes of them ([`expected`]): the examples in `conf/` and the small ones in
//! `tests/conformance/`.

mod expected;

use router::Classes;

#[test]
fn examples_do_what_they_say() {
    let (checked, wrong) = expected::check("conf", &elements::classes());
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked >= 15);
}

#[test]
fn the_three_applications_of_routebricks() {
    let (checked, wrong) = expected::check("conf/routebricks", &elements::classes());
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(checked, 3);
}

#[test]
fn documented_behaviour() {
    let classes = elements::classes();
    let known =
        Classes::new(classes.iter().chain(elements_testing::FAMILIES.iter().copied().flatten().copied()))
            .with_interfaces(elements::INTERFACES);
    let (checked, wrong) = expected::check("tests/conformance", &known);
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked >= 80);
}
