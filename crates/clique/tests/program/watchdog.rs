//! A program that hangs fails its test instead of hanging it.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashMap;
use std::sync::Once;
use std::time::{Duration, Instant};

/// How long a program may run: several times what the slowest takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);

/// Kills from now on each child of this process that is older than [`LIMIT`].
pub(crate) fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| drop(std::thread::spawn(|| watch(LIMIT))));
}

fn watch(limit: Duration) {
    let mut since = HashMap::new();
    loop {
        kill_old(children(), limit, &mut since);
        std::thread::sleep(limit / 60);
    }
}

/// Kills those children that were seen longer ago.
fn kill_old(children: Vec<i32>, limit: Duration, since: &mut HashMap<i32, Instant>) {
    since.retain(|child, _| children.contains(child));
    for child in children {
        if since.entry(child).or_insert_with(Instant::now).elapsed() > limit {
            eprintln!("process {child} has run for more than {limit:?} and is killed");
            // It may just have ended.
            let _ = Pid::from_raw(child).map(|child| kill_process(child, Signal::KILL));
        }
    }
}

/// The processes that this one has started, from `/proc` (proc(5)).
fn children() -> Vec<i32> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split(' ').filter_map(|child| child.parse().ok()).collect::<Vec<_>>())
        .collect()
}

#[test]
fn old_children_are_killed() {
    let mut hangs = std::process::Command::new("sleep").arg("600").spawn().expect("sleep(1) can be started");
    let child = hangs.id() as i32;
    assert!(children().contains(&child));
    let mut since = HashMap::new();
    kill_old(vec![child], LIMIT, &mut since);
    assert_eq!(hangs.try_wait().expect("it can be asked"), None, "killed before its time");
    std::thread::sleep(Duration::from_millis(2));
    kill_old(vec![child], Duration::from_millis(1), &mut since);
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&hangs.wait().expect("awaited")), Some(9));
}
