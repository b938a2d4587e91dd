//! `click-combine` and `click-uncombine`.

use super::{check, fails};
use crate::clique_in;
use expect_test::expect;

#[test]
fn combine_and_uncombine() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("a.click", "define($DEV eth0) FromDevice($DEV, SNIFFER true) -> Queue -> t :: ToDevice($DEV)");
    write("b.click", "FromDevice(eth1) -> Counter -> Queue -> ToDevice(eth1)");
    let combine = |arguments: &[&str]| clique_in(dir.path(), &[&["click-combine"], arguments].concat());
    let uncombine = |arguments: &[&str]| clique_in(dir.path(), &[&["click-uncombine"], arguments].concat());
    let routers = ["A=a.click", "-n", "B", "b.click"];
    let links = ["A.t=B.eth1", "-l", "B.eth1=A.eth0"];
    check(
        combine(&[&routers[..], &links, &["-c"]].concat()),
        expect![[r#"
            exit status: 0
            --- output
            # 1 "a.click"
            A/Queue@2 :: Queue;
            # 1 "b.click"
            B/Counter@2 :: Counter;
            # 1 "b.click"
            B/Queue@3 :: Queue;
            # 0 "<click-combine>"
            link1 :: RouterLink(A t ToDevice, eth0, B FromDevice@1 FromDevice, eth1);
            # 0 "<click-combine>"
            link2 :: RouterLink(B ToDevice@4 ToDevice, eth1, A FromDevice@1 FromDevice, "eth0, SNIFFER true");
            # 12 ""
            link2 -> A/Queue@2
                -> link1
                -> B/Counter@2
                -> B/Queue@3
                -> link2;
        "#]],
    );
    let all = combine(&[&routers[..], &links, &["-o", "ab"]].concat());
    assert_eq!(all, "exit status: 0\n");
    assert_eq!(uncombine(&["ab", "A"]), uncombine(&["-n", "A", "-f", "ab"]));
    check(
        uncombine(&["ab", "B"]),
        expect![[r#"
        exit status: 0
        --- output
        # 1 "b.click"
        Counter@2 :: Counter;
        # 1 "b.click"
        Queue@3 :: Queue;
        # 0 "<click-uncombine>"
        FromDevice@1 :: FromDevice(eth1);
        # 0 "<click-uncombine>"
        ToDevice@4 :: ToDevice(eth1);
        # 10 ""
        FromDevice@1 -> Counter@2
            -> Queue@3
            -> ToDevice@4;
    "#]],
    );
    // A combined router in another.
    assert_eq!(
        combine(&["N=ab", "C=b.click", "-o", "nc"]),
        "exit status: 0\n--- messages\nwarning: no links between routers\n"
    );
    let normal = |text: String| {
        text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(normal(uncombine(&["nc", "N/A"])), normal(uncombine(&["ab", "A"])));

    fails(combine(&[]), "click-combine: no routers specified");
    fails(combine(&["a.click", "1=b.click"]), "click-combine: two routers named '1'");
    fails(
        combine(&["A=a.click", "B=b.click", "A.t=B.eth7", "C.t=B.eth1", "A.=B.eth1"]),
        "click-combine: router 'B' has no element or device named 'eth7'\n\
         click-combine: no router named 'C'\n\
         click-combine: bad link definition 'A.=B.eth1'",
    );
    fails(
        combine(&["A=a.click", "B=b.click", "A.t=B.eth1", "B.eth1=A.t"]),
        "click-combine: warning: router 'A' element 't' has unexpected class\n\
         click-combine:   expected FromDevice or PollDevice, got ToDevice\n\
         click-combine: router 'A' element 't' used as both source and destination",
    );
    let named_twice = combine(&["-n", "X", "A=a.click", "-o", "x"]);
    assert!(named_twice.contains("\nwarning: router name specified twice ('X' and 'A')\n"), "{named_twice}");
    fails(uncombine(&["ab"]), "click-uncombine: no component specified");
    fails(uncombine(&["ab", "C"]), "ab: no 'C' component");
    fails(uncombine(&["a.click", "A"]), "a.click: not created by 'click-combine' (no 'componentmap')");
}
