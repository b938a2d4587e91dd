//! A router with control sockets, and clients that talk to it.

use crate::Client;
use router::{
    ANY, Call, Class, Classes, Clock, Config, ConfigError, Cx, Element, Handlers, Log, Options, Router,
};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// An element with handlers of all kinds.
struct Sample(String);

const SAMPLE: Class = Class::new("Sample", create).ports("0/0");

fn create(_config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Sample("first\n".into())))
}

impl Element for Sample {
    fn handlers(&self, h: &mut Handlers) {
        h.read("value", |e: &mut Sample, _| e.0.clone());
        h.write("value", |e: &mut Sample, _: &mut Cx<'_>, text| {
            e.0 = text.to_owned();
            if text == "bad" { Err("no good\n\tat all".into()) } else { Ok(()) }
        });
        h.read_with("echo", |_: &mut Sample, _, text| Ok(format!("<{text}>")));
        h.write("only", |_: &mut Sample, _, _| Ok(()));
        h.write("odd", |_: &mut Sample, cx: &mut Cx<'_>, text| {
            cx.warn("this is odd");
            cx.warn("and\nthis");
            if text == "bad" { Err("no good".into()) } else { Ok(()) }
        });
        h.read_with("odd", |_: &mut Sample, cx, _| {
            cx.warn("read");
            Ok("1".to_owned())
        });
        h.write("tell", |_: &mut Sample, cx: &mut Cx<'_>, text| {
            cx.info().events.publish(text);
            Ok(())
        });
        h.read_with("slow", |_: &mut Sample, cx, _| {
            cx.info().events.publish("slow begins");
            std::thread::sleep(Duration::from_millis(300));
            Ok("done".to_owned())
        });
        h.read("secret", |_: &mut Sample, _| 42).as_private();
    }
}

/// An element that has every handler: reading gives back what was asked for.
struct Anything;

const ANYTHING: Class = Class::new("Anything", create_anything).ports("0/0");

fn create_anything(_config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Anything))
}

impl Element for Anything {
    fn handlers(&self, h: &mut Handlers) {
        h.read_with(ANY, |_: &mut Anything, _, text| Ok(format!("<{text}>")));
        h.write(ANY, |_: &mut Anything, _, text| Err(format!("asked to write '{text}'")));
    }
}

fn build(config: &str, clock: Clock) -> Router {
    let parsed = lang::parse(config, "config", &[]);
    let known = Classes::new(crate::CLASSES.iter().copied().chain([&SAMPLE, &ANYTHING]));
    let layout =
        router::layout(parsed.graph, &known, 1).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    // Only what goes to standard error is passed on.
    let log = if config.contains("Chatter") { Log::Stderr } else { Log::Memory(Default::default()) };
    let options = Options { clock, log, ..Options::default() };
    let built = router::build(layout, config.to_owned(), &known, options);
    built.map(|(router, _)| router).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)))
}

/// Runs a router while something else happens, then stops it.
fn with(config: &str, clock: Clock, act: impl FnOnce(u16)) {
    let mut router = build(config, clock);
    let port = router.call(Call::read("cs.port", "")).map_or(0, |port| port.parse().unwrap_or(0));
    let handle = router.handle();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            router.run();
            router.finish();
        });
        let acted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(port)));
        handle.stop();
        running.join().expect("the router ends");
        acted.expect("the client is content");
    });
}

/// Sends commands all at once; everything that comes back.
fn talk(port: u16, commands: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.write_all(commands.as_bytes()).expect("written");
    stream.shutdown(Shutdown::Write).expect("half closed");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an end");
    assert!(text.starts_with("Click::ControlSocket/1.3\r\n"), "{text}");
    text["Click::ControlSocket/1.3\r\n".len()..].replace("\r\n", "\n")
}

const TCP: &str = "cs :: ControlSocket(TCP, 0); s :: Sample";

/// Every verb and code, in simulated and in real time.
#[test]
fn each_verb_answers_with_its_code() {
    let cases = [
        ("read s.value\n", "200 Read handler 's.value' OK\nDATA 6\nfirst\n"),
        ("GET 2.name", "200 Read handler '2.name' OK\nDATA 1\ns"),
        ("read s.echo  a  b \r\n", "200 Read handler 's.echo' OK\nDATA 6\n<a  b>"),
        ("readdata s.echo 4\r\na\nb ", "200 Read handler 's.echo' OK\nDATA 6\n<a\nb >"),
        (
            "readuntil s.echo EOF \na\nb\nEOF \nquit\n",
            "200 Read handler 's.echo' OK\nDATA 6\n<a\nb\n>200 Goodbye!\n",
        ),
        ("readuntil s.echo\na\r\n\r\n", "200 Read handler 's.echo' OK\nDATA 5\n<a\n>"),
        ("readuntil s.echo X\na\rb\r\n\nX\r\n", "200 Read handler 's.echo' OK\nDATA 8\n<a\rb\n\n>"),
        (
            "read s.name x",
            "590-Read handler 's.name' error:\n590 read handler 's.name' does not take parameters\n",
        ),
        ("write s.value x\rset s.only\r", "200 Write handler 's.value' OK\n200 Write handler 's.only' OK\n"),
        ("write s.value bad", "520-Write handler 's.value' error:\n520-no good\n520 \\011at all\n"),
        (
            "write s.odd x\nwrite s.only x",
            "220-Write handler 's.odd' OK with warnings:\n220-warning: this is odd\n220-warning: and\n220 this\n200 Write handler 's.only' OK\n",
        ),
        (
            "write s.odd bad",
            "520-Write handler 's.odd' error:\n520-warning: this is odd\n520-warning: and\n520-this\n520 no good\n",
        ),
        ("read s.odd", "200 Read handler 's.odd' OK\nDATA 1\n1"),
        ("writedata s.value 3\r\nbad", "520-Write handler 's.value' error:\n520-no good\n520 \\011at all\n"),
        ("writeuntil s.only X\nabc\nX\n", "200 Write handler 's.only' OK\n"),
        ("writeuntil s.only X\nabc\n", "500 Not enough data\n"),
        ("writedata s.only 5\nabc", "500 Not enough data\n"),
        ("writedata s.only -5\nquit", "500 Syntax error in 'WRITEDATA'\n200 Goodbye!\n"),
        ("writedata s.only 999999999999\n", "521 More than 67108864 bytes of data\n"),
        ("read", "500 Wrong number of arguments\n"),
        ("checkread a b", "500 Wrong number of arguments\n"),
        ("read t.value", "510 No element named 't'\n"),
        ("read 3.value", "510 No element named '3'\n"),
        ("read s.novalue", "511 No handler named 's.novalue'\n"),
        ("read s.secret", "511 No handler named 's.secret'\n"),
        ("read s.only\nwrite s.name x", "530 Handler 's.only' write-only\n530 Handler 's.name' read-only\n"),
        ("read driver\nread .driver\n", "200 Read handler 'driver' OK\nDATA 10\nuserlevel\n"),
        ("checkread s.value", "200 Read handler 's.value' OK\n"),
        ("checkwrite s.value", "200 Write handler 's.value' OK\n"),
        ("checkwrite s.name", "511 Handler 's.name' not writable\n"),
        ("checkread s.only", "511 Handler 's.only' not readable\n"),
        ("llrpc s#80", "501 Cannot call LLRPC 's#80' remotely\n"),
        ("llrpc s#xyz", "500 Syntax error in LLRPC name 's#xyz'\n"),
        ("llrpc t#80", "510 No element named 't'\n"),
        ("\n \nquit now\nread s.value", "500 Bad command syntax\n200 Goodbye!\n"),
        ("frob", "501 Command 'FROB' unimplemented\n"),
    ];
    for clock in [Clock::real(), Clock::simulated()] {
        with(TCP, clock, |port| {
            for (commands, expected) in cases {
                let said = talk(port, commands);
                if commands.starts_with("read driver") {
                    assert!(
                        said.starts_with("200 Read handler 'driver' OK\nDATA 9\nuserlevel200 Read"),
                        "{said}"
                    );
                } else {
                    assert_eq!(said, expected, "{commands}");
                }
            }
            assert!(talk(port, "help").starts_with("200-Commands supported:\n200-READ handler"));
        });
    }
}

#[test]
fn a_read_only_socket_refuses_writes() {
    with("cs :: ControlSocket(TCP, 0, READONLY true); s :: Sample", Clock::real(), |port| {
        assert_eq!(
            talk(port, "write s.value x\ncheckwrite s.value"),
            "530 Permission denied for 's.value'\n".repeat(2)
        );
        assert_eq!(talk(port, "read s.value"), "200 Read handler 's.value' OK\nDATA 6\nfirst\n");
    });
}

/// With a proxy, clients reach nothing but that element, which is asked for whatever they name.
#[test]
fn with_a_proxy_clients_reach_that_element_only() {
    with("cs :: ControlSocket(TCP, 0, PROXY p); p :: Anything; s :: Sample", Clock::real(), |port| {
        let cases = [
            ("read s.value\n", "200 Read handler 's.value' OK\nDATA 10\n<s.value >"),
            ("read far.away 1 2\n", "200 Read handler 'far.away' OK\nDATA 14\n<far.away 1 2>"),
            ("checkread far.away\n", "200 Read handler 'far.away' OK\n"),
            (
                "write far.away now\n",
                "520-Write handler 'far.away' error:\n520 asked to write 'far.away now'\n",
            ),
        ];
        for (commands, expected) in cases {
            assert_eq!(talk(port, commands), expected, "{commands}");
        }
    });
    with("cs :: ControlSocket(TCP, 0, PROXY s); s :: Sample", Clock::real(), |port| {
        assert_eq!(talk(port, "read t.value\n"), "511 No proxied handler named 't.value'\n");
    });
}

/// A line without end is not kept without end.
#[test]
fn lines_are_bounded() {
    with(TCP, Clock::real(), |port| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let chunk = [b'x'; 4096];
        let sent = (0..1 << 12).take_while(|_| stream.write_all(&chunk).is_ok()).count();
        assert!(sent < 1 << 12, "16 MiB without a newline were taken");
    });
}

/// The response to the command that stops the router arrives, and the socket's file goes away with the router.
#[test]
fn stopping_through_a_unix_socket() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("sock");
    let mut router = build(&format!("ControlSocket(UNIX, {}); s :: Sample", path.display()), Clock::real());
    let name = path.display().to_string();
    for handler in ["filename", "port"] {
        let read = router.call(Call::read(format!("ControlSocket@1.{handler}"), ""));
        assert_eq!(read.as_deref(), Ok(name.as_str()), "{handler}");
    }
    let mut client = UnixStream::connect(&path).expect("it listens before it runs");
    let asking = std::thread::spawn(move || {
        let mut text = String::new();
        client.write_all(b"write stop\n").expect("written");
        client.read_to_string(&mut text).expect("an end");
        text
    });
    router.run();
    router.finish();
    assert!(asking.join().expect("answered").ends_with("200 Write handler 'stop' OK\r\n"));
    assert!(!path.exists());
}

/// A socket that a killed program left behind is taken over; a file that is no socket is a user's data, and stays.
#[test]
fn only_sockets_are_taken_over() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("sock");
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket without a program"));
    build(&format!("ControlSocket(UNIX, {})", path.display()), Clock::real()).finish();

    std::fs::write(&path, "data").expect("a file");
    let parsed = lang::parse(&format!("ControlSocket(UNIX, {})", path.display()), "config", &[]);
    let known = Classes::new(crate::CLASSES.iter().copied());
    let layout = router::layout(parsed.graph, &known, 1).unwrap_or_else(|_| panic!("a layout"));
    let built = router::build(layout, String::new(), &known, Options::default());
    let said = built.err().map(|errors| lang::render_click(&errors)).expect("no socket");
    assert!(said.contains("bind: Address already in use"), "{said}");
    assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), Some("data"));
}

/// A browser can be made to send a request to any port of its machine, with commands in the body: it is not listened to.
#[test]
fn browsers_give_no_commands() {
    for head in ["POST / HTTP/1.1\r\n", "GET /s.value HTTP/1.1\r\nHost: 127.0.0.1\r\n"] {
        with(TCP, Clock::real(), |port| {
            let said = talk(port, &format!("{head}\r\nwrite s.value evil\r\n"));
            assert!(said.ends_with("501 This is no HTTP server\n"), "{said}");
            assert!(talk(port, "read s.value\n").ends_with("first\n"));
        });
    }
}

#[test]
fn any_text_goes_through_the_client_unchanged() {
    with(TCP, Clock::real(), |port| {
        let mut client = Client::tcp("127.0.0.1", port).expect("a connection");
        let bytes = lang::bytes::to_text((0..=255).collect::<Vec<u8>>());
        for value in ["", "a", "\r\n\r\nquit\n", " b ", "ä\0", &bytes] {
            assert!(client.write("s.value", value).expect("answered").is_fine());
            assert_eq!(client.read("s.value", "").expect("answered").data.as_deref(), Some(value));
            let echo = client.read("s.echo", value).expect("answered").data;
            assert_eq!(echo, Some(format!("<{value}>")));
        }
        let reply = client.write("s.value", "bad").expect("answered");
        assert_eq!((reply.code, reply.messages.len()), (520, 3));
        assert!(reply.warnings().is_empty());
        let reply = client.write("s.odd", "x").expect("answered");
        assert!(reply.is_fine());
        assert_eq!(reply.warnings(), ["warning: this is odd", "warning: and", "this"]);
        assert!(client.read("s.value x", "").is_err());
    });
}

/// A new router's element takes socket and connections over; a client notices nothing. One that wants another address
/// has it, and the swap can still fail.
#[test]
fn connections_survive_a_swap() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("sock");
    let other = directory.path().join("other");
    let config = |path: &Path| {
        format!("cs :: ControlSocket(UNIX, {}, RETRIES 1, RETRY_WARNINGS false); s :: Sample", path.display())
    };
    let mut router = build(&config(&path), Clock::real());
    let mut client = Client::unix(&path).expect("a connection");
    let handle = router.handle();
    let asking = std::thread::spawn(move || {
        assert!(client.write("s.value", "old").expect("answered").is_fine());
        handle.interrupt();
        let value = client.read("s.value", "");
        (value, client.write("stop", ""))
    });
    router.run();
    let new = build(&config(&path), Clock::real());
    let mut old = router.replace(new).expect("the same address");
    old.finish();
    drop(old);
    router.run();
    let (value, stopped) = asking.join().expect("answered");
    let value = value.expect("a response").data;
    assert!(["old", "first\n"].contains(&value.as_deref().unwrap_or_default()), "{value:?}");
    assert!(stopped.expect("a response").is_fine());
    assert!(path.exists());

    router.info().adjust_run_count(1);
    router.resume();
    let mut old = router.replace(build(&config(&other), Clock::real())).expect("another address");
    assert!(path.exists() && other.exists(), "both, until the old one is finished");
    old.finish();
    let mut client = Client::unix(&other).expect("a connection");
    let asking = std::thread::spawn(move || client.write("stop", "").expect("answered").is_fine());
    router.run();
    router.finish();
    assert!(asking.join().expect("answered"));
    assert!(!path.exists() && !other.exists());
}

#[test]
fn a_connected_client_hears_what_elements_say() {
    with("cs :: ChatterSocket(TCP, 0); s :: Sample", Clock::real(), |port| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let mut heard = |expected: &str| {
            let mut bytes = vec![0; expected.len()];
            stream.read_exact(&mut bytes).expect("heard");
            assert_eq!(String::from_utf8_lossy(&bytes), expected);
        };
        heard("Click::ChatterSocket/1.0\r\n");
        Log::Stderr.line_on("elsewhere", "something else happened");
        Log::Stderr.line("something happened");
        heard("something happened\n");
    });
}

#[test]
fn a_client_hears_its_channel_and_no_other() {
    with("cs :: ChatterSocket(TCP, 0, CHANNEL here, GREETING false); s :: Sample", Clock::real(), |port| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let (mut heard, mut said) = (Vec::new(), String::new());
        stream.set_nonblocking(true).expect("a socket");
        // The connection is served a moment after it is made.
        while !heard.ends_with(b"\n") {
            Log::Stderr.line("everywhere");
            Log::Stderr.line_on("there", "there");
            Log::Stderr.line_on("here", "here");
            let _ = stream.read_to_end(&mut heard);
            std::thread::sleep(Duration::from_millis(5));
        }
        said.extend(String::from_utf8_lossy(&heard).lines());
        assert_eq!(said.replace("here", ""), "", "{heard:?}");
    });
}

/// Who watches hears of events with the topics it named, as lines, until it sends something; then commands are taken again.
#[test]
fn a_watcher_hears_its_topics_until_it_sends_something() {
    with("cs :: ControlSocket(TCP, 0); s :: Sample", Clock::real(), |port| {
        let connect = || Client::tcp("127.0.0.1", port).expect("a connection");
        let (mut all, mut some, mut other) = (connect(), connect(), connect());
        assert!(all.watch(&[]).expect("answered").is_fine());
        assert!(some.watch(&["link".to_owned()]).expect("answered").is_fine());
        for event in ["neighbour add x", "link down\n"] {
            assert!(other.write("s.tell", event).expect("answered").is_fine());
        }
        assert_eq!(all.event().expect("an event"), "neighbour add x");
        assert_eq!([all.event(), some.event()].map(|event| event.expect("an event")), ["link down\\012"; 2]);
        // A command that is there already ends it.
        let said = talk(port, "watch neighbour\nread s.value\nquit\n");
        assert_eq!(said, "200 Watching\n200 Read handler 's.value' OK\nDATA 6\nfirst\n200 Goodbye!\n");
    });
}

/// Idle clients lock no other out: one more takes the place of the one that was idle longest, neither of one that has just said something nor of
/// one that watches, though they were there before, nor of one whose command is under way.
#[test]
fn idle_clients_make_room() {
    with("cs :: ControlSocket(TCP, 0); s :: Sample", Clock::real(), |port| {
        let connect = || Client::tcp("127.0.0.1", port).expect("a connection");
        let value = |client: &mut Client| client.read("s.value", "").map(|answer| answer.is_fine());
        let (mut busy, mut watching, mut talking) = (connect(), connect(), connect());
        assert!(watching.watch(&[]).expect("answered").is_fine());
        let mut idle: Vec<Client> = (3..64).map(|_| connect()).collect();
        assert!(value(&mut talking).expect("an answer"));
        std::thread::scope(|scope| {
            let slow = scope.spawn(|| busy.read("s.slow", "").map(|answer| answer.is_fine()));
            assert_eq!(watching.event().expect("an event"), "slow begins");
            let mut more: Vec<Client> = (0..2).map(|_| connect()).collect();
            for client in more.iter_mut().chain([&mut talking]) {
                assert!(value(client).expect("it has a place"));
            }
            for (i, client) in idle.iter_mut().enumerate().take(4) {
                assert_eq!(value(client).is_ok(), i >= 2, "client {i}");
            }
            assert!(slow.join().expect("it ends").expect("an answer"));
        });
        assert!(talking.write("s.tell", "link up").expect("answered").is_fine());
        assert_eq!(watching.event().expect("an event"), "link up");
    });
}

/// Of ports to choose from, the new element keeps the one that the old one has found, and its clients.
#[test]
fn a_port_that_was_found_stays() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let first = listener.local_addr().expect("an address").port();
    let config = format!("cs :: ControlSocket(TCP, {first}+); s :: Sample");
    let mut router = build(&config, Clock::real());
    let port = router.call(Call::read("cs.port", "")).expect("a port").parse().expect("a number");
    assert!(port > first, "that one is in use");
    let mut client = Client::tcp("127.0.0.1", port).expect("a connection");
    for _ in 0..2 {
        router.replace(build(&config, Clock::real())).expect("the same ports").finish();
        assert_eq!(router.call(Call::read("cs.port", "")), Ok(port.to_string()));
        let handle = router.handle();
        let asking = std::thread::spawn(move || {
            let value = client.read("s.value", "").map(|reply| reply.data);
            handle.interrupt();
            (client, value)
        });
        router.run();
        let (back, value) = asking.join().expect("no panic");
        assert_eq!(value.expect("the connection is there").as_deref(), Some("first\n"));
        client = back;
    }
    router.finish();
}

/// Connections that hear a channel are no use to an element for another one.
#[test]
fn channels_stay_what_they_are() {
    let directory = tempfile::tempdir().expect("a directory");
    let chatter = |channel: &str| {
        let path = directory.path().join("sock");
        let rest = "RETRIES 1, RETRY_WARNINGS false";
        build(
            &format!("cs :: ChatterSocket(UNIX, {}, CHANNEL {channel}, {rest})", path.display()),
            Clock::real(),
        )
    };
    let mut router = chatter("here");
    let error = router.replace(chatter("there")).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("incompatible ControlSockets"), "{error}");
    router.replace(chatter("here")).expect("the same channel").finish();
    router.finish();
}

/// Who may not replace the configuration may not send `RELOAD`, and what comes behind the data is the next command all the same.
#[test]
fn reloads_need_leave() {
    let without = "530 Permission denied for reload: the router runs without '-R'\n";
    with(TCP, Clock::real(), |port| {
        let said = talk(port, "reload 2\n{}reload\nread s.name\n");
        assert!(said.starts_with(&format!("{without}500 Wrong number of arguments\n200 ")), "{said}");
    });
    for arguments in ["READONLY true", "PROXY s"] {
        with(&format!("cs :: ControlSocket(TCP, 0, {arguments}); s :: Sample"), Clock::real(), |port| {
            assert_eq!(talk(port, "reload 2\n{}"), "530 Permission denied for reload\n", "{arguments}");
        });
    }
}

/// Sends a request whose lines end with a newline here, and gives the status and the body.
fn request(port: u16, text: &str) -> (String, String) {
    let said = request_raw(port, text);
    let (head, body) = said.split_once("\r\n\r\n").expect("a head");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{said}");
    (head[9..12].to_owned(), body.to_owned())
}

/// What is asked by HTTP: values of handlers, arguments and all; writing only where it is allowed.
#[test]
fn http_reads_values_and_writes_where_allowed() {
    let cases = [
        ("GET /s/value HTTP/1.1\nHost: localhost\n\n", "200", "first\n"),
        ("GET /s/echo/a%20b/c HTTP/1.0\n\n", "200", "<a b/c>"),
        ("GET //s/name?x=1 HTTP/1.1\n\n", "200", "s"),
        ("GET / HTTP/1.1\n\n", "200", "2\ncs\ns\n"),
        ("GET /s/secret HTTP/1.1\n\n", "404", "Invalid path '/s/secret' or no secret in s"),
        ("GET /t/value HTTP/1.1\n\n", "404", "Invalid path '/t/value' or no t in "),
        ("GET /s/only HTTP/1.1\n\n", "400", "This request is not readable"),
        ("POST /s/name HTTP/1.1\nContent-Length: 1\n\nx", "400", "This request is not writable"),
        ("POST /s/value HTTP/1.1\ncontent-length: 3\n\nbad", "200", "error"),
        ("POST /s/value HTTP/1.1\ncontent-length: 3\n\nnew", "200", "success"),
        ("GET /s/value HTTP/1.1\n\n", "200", "new"),
        ("DELETE /s/value HTTP/1.1\n\n", "404", "Invalid path '/s/value' or no delete_value in s"),
        ("PATCH /s/value HTTP/1.1\n\n", "405", "Unsupported method"),
        ("GET /s/value HTTP/1.1\nHost: example.com\n\n", "403", "This request comes from another site"),
        (
            "GET /s/value HTTP/1.1\nHost: localhost\nOrigin: http://example.com\n\n",
            "403",
            "This request comes from another site",
        ),
        ("GET s/value HTTP/1.1\n\n", "400", "Bad request"),
        ("GET /s/value\n\n", "400", "Bad request"),
        ("GET /s/value HTTP/1.1\nHost", "400", "Bad request"),
        ("POST /s/value HTTP/1.1\nContent-Length: 9999999999\n\n", "413", "Too much data"),
        ("POST /s/value HTTP/1.1\nContent-Length: +3\n\nbad", "400", "Bad request"),
        ("POST /s/value HTTP/1.1\nContent-Length: 3\nContent-Length: 2\n\nbad", "400", "Bad request"),
        ("POST /s/value HTTP/1.1\nTransfer-Encoding: chunked\n\n", "501", "Unsupported transfer encoding"),
    ];
    with("cs :: HTTPServer(PORT 0, READONLY false); s :: Sample", Clock::real(), |port| {
        for (text, status, body) in cases {
            assert_eq!(request(port, text), (status.to_owned(), body.to_owned()), "{text}");
        }
        let (_, both) = request(port, "GET /s HTTP/1.1\n\n");
        assert!(both.contains("value\trw"), "{both}");
        let head = request_raw(port, "HEAD /s/name HTTP/1.1\n\nGET /s/name HTTP/1.1\nConnection: close\n\n");
        assert_eq!(head.matches("Content-Length: 1").count(), 2, "{head}");
        assert!(head.ends_with("Connection: close\r\n\r\ns"), "{head}");
    });
    with("cs :: HTTPServer(0); s :: Sample", Clock::real(), |port| {
        let refused = ("403".to_owned(), "This server allows no writing".to_owned());
        assert_eq!(request(port, "POST /s/value HTTP/1.1\nContent-Length: 1\n\nx"), refused);
        assert_eq!(request(port, "GET /s/value HTTP/1.1\n\n").1, "first\n");
    });
}

/// Sends requests; everything that comes back.
fn request_raw(port: u16, text: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.write_all(text.replace('\n', "\r\n").as_bytes()).expect("written");
    stream.shutdown(Shutdown::Write).expect("half closed");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("an end");
    said
}

/// Metrics are told at `/metrics`, whatever happens to other clients: those that send nothing, or too much, or never read, take no
/// place from one that asks, and no client writes.
#[test]
fn metrics_are_served_whatever_other_clients_do() {
    with("cs :: MetricsSocket(TCP, 0); s :: Sample", Clock::real(), |port| {
        let scrape = || request_raw(port, "GET /metrics HTTP/1.1\nHost: localhost\nConnection: close\n\n");
        assert!(scrape().contains("\nclique_elements 2\n"));
        let connect = || TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let mut slow: Vec<TcpStream> = (0..100).map(|_| connect()).collect();
        for (number, client) in slow.iter_mut().enumerate() {
            // Those that have been given up already are not told so.
            let _ = match number % 3 {
                0 => Ok(()),
                1 => client.write_all(b"GET /metrics HTT"),
                _ => client.write_all("GET /metrics HTTP/1.1\r\n\r\n".repeat(1000).as_bytes()),
            };
        }
        for _ in 0..3 {
            assert!(scrape().contains("\nclique_elements 2\n"));
        }
        let mut endless = connect();
        let sent = (0..1 << 12).take_while(|_| endless.write_all(&[b'x'; 4096]).is_ok()).count();
        assert!(sent < 1 << 12, "16 MiB without a newline were taken");
        let mut lines = connect();
        let head = "GET /metrics HTTP/1.1\r\n".to_owned() + &"x: y\r\n".repeat(1000);
        let _ = lines.write_all(head.as_bytes());
        let mut said = String::new();
        let _ = lines.read_to_string(&mut said); // refused before it was read to its end
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 400 "), "{said}");
        let refused = request_raw(port, "POST /s/value HTTP/1.1\nContent-Length: 1\n\nx");
        assert!(refused.starts_with("HTTP/1.1 405 "), "{refused}");
        drop(slow);
    });
}

/// A control socket tells the same, and not to those who are to reach one element only.
#[test]
fn metrics_of_a_control_socket() {
    with(TCP, Clock::real(), |port| {
        let mut client = Client::tcp("127.0.0.1", port).expect("a connection");
        let text = client.metrics().expect("answered").data.expect("data");
        assert!(text.contains("# TYPE clique_elements gauge\nclique_elements 2\n"), "{text}");
        assert!(text.contains("clique_worker_up{worker=\"0\"} 1\n"), "{text}");
        assert_eq!(talk(port, "metrics now"), "500 Wrong number of arguments\n");
    });
    with("cs :: ControlSocket(TCP, 0, PROXY p); p :: Anything", Clock::real(), |port| {
        assert_eq!(talk(port, "metrics"), "530 Permission denied for metrics\n");
    });
}
