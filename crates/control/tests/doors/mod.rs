//! Doors of a router through which bytes come from other programs: a control socket, and zebra's connection. A fuzz target and ordinary tests
//! send the same.

use router::{Call, Classes, Handle, Log, Options};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

const CONFIG: &str = "control :: ControlSocket(TCP, 0);
  fpm :: FPMServer(lo 1, PORT 0, IPV4 routes, IPV6 routes6, BLACKHOLE 2);
  Idle -> routes :: IPLookup(192.0.2.1/32 0, NOROUTE 2); routes[0] -> d :: Discard; routes[1] -> d; routes[2] -> d;
  Idle -> routes6 :: IP6Lookup(2001:db8::1/128 0, NOROUTE 2); routes6[0] -> d; routes6[1] -> d; routes6[2] -> d;
  Idle -> c :: Counter -> q :: Queue(10) -> u :: Unqueue -> s :: Switch(0) -> d; s[1] -> d;";

/// Longer than an answer takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A router that runs.
struct Running {
    handle: Handle,
    thread: JoinHandle<()>,
    control: u16,
    fpm: u16,
}

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);
/// Threads of the router may catch what they cause.
static PANICKED: AtomicBool = AtomicBool::new(false);

fn start() -> Running {
    std::panic::set_hook(Box::new(|panic| {
        PANICKED.store(true, Ordering::SeqCst);
        eprintln!("{panic}");
    }));
    let known = Classes::new(elements::classes().iter().chain(clique_control::CLASSES.iter().copied()));
    let config = CONFIG.to_owned();
    let parsed = lang::parse(&config, "doors", &[]);
    let layout =
        router::layout(parsed.graph, &known, 1).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let options = Options { log: Log::Memory(Default::default()), ..Options::default() };
    let built = router::build(layout, config, &known, options);
    let (mut router, _) = built.unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let port = |router: &mut router::Router, path| {
        router.call(Call::read(path, "")).expect("a port").trim().parse().expect("a number")
    };
    let (control, fpm) = (port(&mut router, "control.port"), port(&mut router, "fpm.port"));
    let handle = router.handle();
    let thread = std::thread::spawn(move || {
        router.run();
        router.finish();
    });
    Running { handle, thread, control, fpm }
}

/// Acts on a router that runs; afterwards it still does, or was told to stop.
fn with(act: impl FnOnce(&Running)) {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let router = running.take().filter(|router| !router.thread.is_finished()).unwrap_or_else(start);
    act(&router);
    if router.thread.is_finished() {
        router.thread.join().expect("the router ends well");
    } else {
        let answer = router.handle.call(Call::read("version", ""));
        // It may be about to end.
        assert!(answer.is_ok() || router.thread.is_finished() || is_over(&router.handle), "{answer:?}");
        *running = Some(router);
    }
    assert!(!PANICKED.swap(false, Ordering::SeqCst), "a thread panicked");
}

fn is_over(handle: &Handle) -> bool {
    std::thread::sleep(Duration::from_millis(200));
    handle.call(Call::read("version", "")).is_err()
}

/// Sends bytes, closes that direction, and reads to the end; `None` if the router ended before.
fn exchange(port: u16, data: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream.write_all(data).ok()?;
    stream.shutdown(Shutdown::Write).ok()?;
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
            panic!("no end of the answer after {PATIENCE:?}")
        }
        Err(_) => None,
        Ok(_) => Some(answer),
    }
}

/// Commands of a client of ControlSocket: each connection is greeted and comes to its end.
pub(crate) fn control(data: &[u8]) {
    with(|router| {
        let answer = exchange(router.control, data);
        if let Some(answer) = answer.filter(|answer| !answer.is_empty()) {
            assert!(
                answer.starts_with(b"Click::ControlSocket/1.3\r\n"),
                "{}",
                String::from_utf8_lossy(&answer)
            );
        }
    });
}

/// What zebra might send: messages of netlink in frames of FPM.
pub(crate) fn fpm(data: &[u8]) {
    with(|router| drop(exchange(router.fpm, data)));
}
