//! Configurations that say what comes of them ([`expected`]): the examples in `conf/` and the small ones in
//! `tests/conformance/`.

mod expected;

#[test]
fn examples_do_what_they_say() {
    let (checked, wrong) = expected::check("conf", &clique_elements::classes());
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked >= 15);
}

#[test]
fn documented_behaviour() {
    let (checked, wrong) = expected::check("tests/conformance", &clique_elements::classes());
    assert!(wrong.is_empty(), "{wrong}");
    assert!(checked >= 80);
}
