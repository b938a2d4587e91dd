//! `clique new`, on a machine whose `ip` is a script.

use crate::program;
use std::os::unix::fs::PermissionsExt;

const IP: &str = r#"#!/bin/sh
case "$*" in
*route*) echo '[{"dst":"default","gateway":"203.0.113.1","dev":"wan0"}]' ;;
*) echo '[{"ifname":"lan0","link_type":"ether","flags":["UP"],"addr_info":[{"local":"10.0.0.1","prefixlen":24,"scope":"global"}]},
          {"ifname":"wan0","link_type":"ether","flags":["UP"],"addr_info":[{"local":"203.0.113.2","prefixlen":24,"scope":"global"}]}]' ;;
esac
"#;

/// What it writes is a good configuration, and it writes over nothing.
#[test]
fn new_configurations_are_good_and_replace_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let ip = directory.path().join("ip");
    std::fs::write(&ip, IP).expect("written");
    std::fs::set_permissions(&ip, std::fs::Permissions::from_mode(0o755)).expect("set");
    let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap_or_default());
    let run = |arguments: &[&str]| {
        let output =
            program(arguments).env("PATH", &path).current_dir(directory.path()).output().expect("a program");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    for kind in ["router", "nat", "firewall"] {
        let file = format!("{kind}.click");
        assert_eq!(run(&["new", kind, "-o", &file]), (Some(0), String::new(), String::new()));
        let (status, _, said) = run(&["check", "-j2", &file]);
        assert_eq!(status, Some(0), "{kind}: {said}");
        let (status, _, said) = run(&["new", kind, "-o", &file]);
        assert!(
            status == Some(3) && said.contains("is there already, and is left as it is"),
            "{status:?} {said}"
        );
        let written = std::fs::read_to_string(directory.path().join(&file)).expect("there");
        assert_eq!(run(&["new", kind]), (Some(0), written, String::new()));
    }
    let (status, _, said) = run(&["new", "nat", "lan0", "dsl0"]);
    assert!(
        status == Some(3)
            && said.contains("dsl0 is no Ethernet interface")
            && said.contains("it has lan0, wan0"),
        "{said}"
    );
    assert_eq!(run(&["new", "nat", "lan0"]).0, Some(2));
}
