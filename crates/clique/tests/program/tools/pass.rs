//! Tools that have little to do for the router here, or nothing.

use super::{check, fails};
use crate::{clique, clique_in};
use expect_test::expect;

#[test]
fn align_adds_elements_and_tells_of_them() {
    check(
        clique(&["click-align", "-V", "-e", "FromDump(x) -> CheckIPHeader -> Discard"]),
        expect![[r#"
            exit status: 0
            --- output
            # 1 "config"
            FromDump@1 :: FromDump(x);
            # 1 "config"
            CheckIPHeader@2 :: CheckIPHeader;
            # 1 "config"
            Discard@3 :: Discard;
            # 0 "<click-align>"
            Align@click_align@4 :: Align(4, 0);
            # 0 "<click-align>"
            AlignmentInfo@click_align@5 :: AlignmentInfo(CheckIPHeader@2  4 0);
            # 12 ""
            FromDump@1 -> Align@click_align@4
                -> CheckIPHeader@2
                -> Discard@3;
            --- messages
            CheckIPHeader@2 [0]: adding Align(4, 0) to fix EMPTY
            warning: added 1 Align element
        "#]],
    );
    check(
        clique(&["click-align", "--assertions", "-e", "Idle"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        Idle@1 :: Idle;
    "#]],
    );
}

/// What Click's compilers have made of a configuration is undone; what else is in the archive stays.
#[test]
fn what_clicks_compilers_made_is_undone() {
    let dir = tempfile::tempdir().unwrap();
    let member = |(name, data): &(&str, &str)| {
        let long = format!("{name}{data}");
        let pad = if long.len() % 2 == 1 { "\n" } else { "" };
        format!("#1/{:<13}{:<12}{:<6}{:<6}{:<8}{:<10}`\n{long}{pad}", name.len(), 0, 0, 0, 600, long.len())
    };
    let run = |members: &[(&str, &str)], arguments: &[&str]| {
        let members: String = members.iter().map(member).collect();
        std::fs::write(dir.path().join("ar"), format!("!<arch>\n{members}")).unwrap();
        clique_in(dir.path(), &[arguments, &["ar"]].concat())
    };
    let config = "require(package clickdv_1, package other); Idle@@a :: Idle@@a@@b -> Discard";
    let made = [("config", config), ("clickdv_1.cc", "x"), ("devirtualize_info", "Idle@@a@@b\tIdle\n")];
    check(
        run(&made[..], &["click-devirtualize", "-r"]),
        expect![[r#"
        exit status: 0
        --- output
        require(package "other");

        # 1 "ar"
        Idle@@a :: Idle;
        # 1 "ar"
        Discard@2 :: Discard;
        # 8 ""
        Idle@@a -> Discard@2;
    "#]],
    );
    let config = "require(package clickfc_1); Idle -> c :: FastClassifier@@c -> Discard";
    let info = "FastClassifier@@c\tClassifier\t\"12/0800, -\"\n";
    let made = [("config", config), ("clickfc_1.uo", "x"), ("fastclassifier_info", info), ("keep", "k")];
    check(
        run(&made[..], &["click-fastclassifier", "-rkc"]),
        expect![[r#"
        exit status: 0
        --- output
        !<arch>
        config/         0           0     0     644     131       `
        # 1 "ar"
        Idle@1 :: Idle;
        # 1 "ar"
        c :: Classifier(12/0800, -);
        # 1 "ar"
        Discard@3 :: Discard;
        # 8 ""
        Idle@1 -> c
            -> Discard@3;

        #1/4            0           0     0     600     5         `
        keepk
    "#]],
    );
    let unmade = run(
        &[("config", "Idle -> Classifier(-) -> Classifier(-) -> Discard")],
        &["click-fastclassifier", "-r"],
    );
    assert_eq!(unmade.matches(":: Classifier(-)").count(), 2, "{unmade}");
}

/// What makes nothing but speed passes a configuration through; what makes C++ or needs the kernel's module says so.
#[test]
fn compilers_pass_a_configuration_through_or_say_why_not() {
    check(
        clique(&["click-fastclassifier", "-u", "-e", "Idle -> Classifier(12/0800) -> Discard"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        Idle@1 :: Idle;
        # 1 "config"
        Classifier@2 :: Classifier(12/0800);
        # 1 "config"
        Discard@3 :: Discard;
        # 8 ""
        Idle@1 -> Classifier@2
            -> Discard@3;
    "#]],
    );
    check(
        clique(&["click-devirtualize", "-n", "Idle", "--reverse", "-e", "Idle"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        Idle@1 :: Idle;
    "#]],
    );
    let two = "Idle -> c :: Classifier(0/01, -) -> d :: Classifier(1/02, -) => Discard, Null -> Discard; c[1] -> Discard";
    check(
        clique(&["click-fastclassifier", "--no-classes", "-ke", two, "-c"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "config"
        Idle@1 :: Idle;
        # 1 "config"
        c :: Classifier(0/01 1/02, 0/01, -);
        # 1 "config"
        Discard@4 :: Discard;
        # 1 "config"
        Null@5 :: Null;
        # 1 "config"
        Discard@6 :: Discard;
        # 1 "config"
        Discard@7 :: Discard;
        # 14 ""
        Idle@1 -> c
            -> Discard@4
            -> Discard@6;
        c [2] -> Discard@7;
        c [1] -> Null@5
            -> Discard@6;
    "#]],
    );
    assert_eq!(
        clique(&["click-fastclassifier", "--no-combine", "-e", two]),
        clique(&["click-flatten", "-e", two])
    );
    fails(
        clique(&["click-fastclassifier", "-s", "-e", "Idle"]),
        "click-fastclassifier: there is no source code to print: elements are compiled into the program",
    );
    fails(
        clique(&["click-devirtualize", "-k", "-e", "Idle"]),
        "click-devirtualize: there is no kernel module here: run the configuration with 'click'",
    );
    for arguments in [
        &["click-mkmindriver", "-p", "x", "-u", "--no-extras", "x.click"][..],
        &["click-install", "-hj", "2", "-e", "Idle"],
        &["click-uninstall", "-V"],
    ] {
        let tool = arguments[0];
        let found = clique(arguments);
        assert!(found.starts_with(&format!("exit status: 1\n--- messages\n{tool}: ")), "{found}");
        assert!(
            clique(&[tool, "--help"]).starts_with(&format!("exit status: 0\n--- output\nUsage: {tool} "))
        );
    }
}
