//! The program as a service.

use crate::program;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The command behind `key` in the unit file, for the service `here` whose files are all in one directory.
fn command(key: &str, directory: &Path) -> Command {
    let unit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conf/clique@.service");
    let unit = std::fs::read_to_string(unit).expect("the unit");
    let line = unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix("=clique "));
    let line = line.unwrap_or_else(|| panic!("no {key}")).replace("%i", "here");
    let directory = directory.to_str().expect("UTF-8");
    let line = line.replace("/run/clique", directory).replace("/etc/clique", directory);
    program(&line.replace("$ARGUMENTS", "-j 2 WORD=one").split(' ').collect::<Vec<_>>())
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The unit's commands start a router, which says when it is ready; reload its file while it runs, or leave it as it
/// is if the file is wrong; and stop it in order.
#[test]
fn the_units_commands_start_reload_and_stop_a_router() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("here.click");
    let write = |text: &str| std::fs::write(&config, text).expect("written");
    std::fs::create_dir(directory.path().join("here")).expect("a directory");
    write("define($WORD none); i :: Idle; m :: Message(\"says $WORD\")");
    let place = directory.path().join("notify");
    let manager = UnixDatagram::bind(&place).expect("a socket");
    manager.set_read_timeout(Some(PATIENCE)).expect("set");
    let hear = || {
        let mut heard = [0; 200];
        let len = manager.recv(&mut heard).expect("a message");
        String::from_utf8_lossy(&heard[..len]).into_owned()
    };
    let hear_after_watchdog =
        || std::iter::repeat_with(hear).find(|said| said != "WATCHDOG=1").unwrap_or_default();
    let mut router = command("ExecStart", directory.path());
    router.env("NOTIFY_SOCKET", &place).env("WATCHDOG_USEC", "300000");
    router.stdout(Stdio::piped()).stderr(Stdio::piped());
    let router = router.spawn().expect("the program can be started");
    assert_eq!(hear(), "READY=1\nSTATUS=3 elements on 2 workers");

    write("define($WORD none); i :: Idle; m :: Message(\"now it says $WORD\")");
    let reload = command("ExecReload", directory.path()).output().expect("a client");
    assert!(reload.status.success(), "{}", messages(&reload));
    write("i :: Idel");
    let reload = command("ExecReload", directory.path()).output().expect("a client");
    assert!(!reload.status.success() && messages(&reload).contains("Idel"), "{}", messages(&reload));

    // Of the router that runs now, too.
    assert_eq!([hear(), hear(), hear()], ["WATCHDOG=1"; 3]);
    let kill = Command::new("kill").arg(router.id().to_string()).status();
    assert!(kill.is_ok_and(|status| status.success()));
    assert_eq!(hear_after_watchdog(), "STOPPING=1");
    let output = router.wait_with_output().expect("the program can be awaited");
    assert_eq!(output.status.code(), Some(0));
    let messages = messages(&output);
    // A busy machine is no fault of the router, which says so and goes on.
    let others = |line: &&str| {
        !line.contains("While configuring 'm :: Message':") && !line.contains("waits for a processor")
    };
    let said: Vec<&str> = messages.lines().filter(others).collect();
    let [first, second, loaded, refused] = said[..] else { panic!("{said:?}") };
    assert_eq!([first, second], ["  says one", "  now it says one"]);
    assert!(loaded.ends_with("here.click runs, by 'clique reload'"), "{loaded}");
    assert!(refused.contains("a configuration is refused: ") && refused.contains("Idel"), "{refused}");
}
