//! The tools inside a program of three classes, whose files and streams are in memory.

use click_tools::archive::{self, Member};
use click_tools::{Host, Input, Text, tools};
use lang::{Diagnostic, Graph};
use router::{Class, Classes, Config, ConfigError, Element};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

fn create(_: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    unreachable!("no tool makes elements")
}

static SOURCE: Class = Class::new("Source", create).ports("0/1").processing("h");
static COUNTER: Class = Class::new("Counter", create);
static SINK: Class = Class::new("Sink", create).ports("1/0").processing("h");

struct Memory {
    classes: Classes,
    /// What can be read.
    files: HashMap<&'static str, Vec<u8>>,
    /// What was written, under the empty name to standard output. What has `full` in its name cannot be written.
    written: RefCell<HashMap<String, Vec<u8>>>,
    /// What was said on standard error.
    said: RefCell<String>,
}

impl Memory {
    fn new(files: &[(&'static str, &[u8])]) -> Memory {
        Memory {
            classes: Classes::new([&SOURCE, &COUNTER, &SINK]),
            files: files.iter().map(|&(name, bytes)| (name, bytes.to_vec())).collect(),
            written: RefCell::default(),
            said: RefCell::default(),
        }
    }

    /// Runs a tool: what it writes to standard output, what it says, and whether it succeeds.
    fn run(&self, line: &str) -> (String, String, bool) {
        let (name, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let tool = tools::find(OsStr::new(name)).expect("a tool");
        let status = tools::run(tool, arguments.split_whitespace().map(OsString::from), self);
        let output = self.written.borrow_mut().remove("").unwrap_or_default();
        (String::from_utf8(output).unwrap(), self.said.take(), status == ExitCode::SUCCESS)
    }
}

impl Host for Memory {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn read(&self, input: &Input) -> Result<(Text, Vec<Member>), String> {
        let name = input.name().to_owned();
        let bytes = match input {
            Input::Expression(text) => Some(text.clone().into_bytes()),
            Input::File(_) | Input::Stdin => self.files.get(name.as_str()).cloned(),
        };
        let bytes = bytes.ok_or_else(|| format!("{name}: not there"))?;
        let (config, others) = match archive::is_archive(&bytes) {
            true => archive::config(&bytes).map_err(|broken| broken.message(&name))?,
            false => (bytes, Vec::new()),
        };
        Ok((Text { name, text: String::from_utf8(config).unwrap() }, others))
    }

    fn library(&self, path: &str, name: &str, _: &str) -> Option<(String, String)> {
        let file = format!("{path}/{name}");
        let text = self.files.get(file.as_str())?;
        Some((file, String::from_utf8(text.clone()).unwrap()))
    }

    fn check(&self, graph: Graph, _: &str) -> Vec<Diagnostic> {
        vec![Diagnostic::error(format!("{} elements are too many", graph.elements.len()))]
    }

    fn complain(&self, text: &str) {
        self.said.borrow_mut().push_str(text);
    }

    fn write(&self, file: Option<&str>, bytes: &[u8]) -> bool {
        let name = file.filter(|&name| name != "-").unwrap_or_default();
        if name.contains("full") {
            self.complain("disk full\n");
            return false;
        }
        self.written.borrow_mut().insert(name.to_owned(), bytes.to_vec());
        true
    }
}

const FLAT: &str =
    "# 1 \"a\"\nSource@1 :: Source;\n# 1 \"a\"\nSink@2 :: Sink;\n# 6 \"\"\nSource@1 -> Sink@2;\n";

#[test]
fn names_are_those_of_files_too() {
    assert!(tools::find(OsStr::new("/usr/bin/click-flatten")).is_some());
    assert!(tools::find(OsStr::new("click")).is_none() && tools::find(OsStr::new("flatten")).is_none());
}

#[test]
fn libraries_come_from_the_host() {
    let library = &b"elementclass Twice { -> Counter -> Counter -> }"[..];
    let host =
        Memory::new(&[("a", b"require(library twice) Source -> Twice -> Sink"), ("lib/twice", library)]);
    let (names, said, succeeds) = host.run("click-flatten -n -C lib a");
    assert_eq!(
        (names.as_str(), said.as_str()),
        ("Sink@3\nSource@1\nTwice@2/Counter@1\nTwice@2/Counter@2\n", "")
    );
    assert!(succeeds);
    let (_, said, succeeds) = host.run("click-flatten -C elsewhere a");
    assert!(!succeeds && said.contains("twice"), "{said}");
}

#[test]
fn archives_keep_what_else_is_in_them() {
    let members = [("config", "Source -> Sink"), ("more", "data")]
        .map(|(name, data)| Member::new(name, 0o644, data.as_bytes().to_vec()));
    let host = Memory::new(&[("a", &archive::archive(&members))]);
    let (written, _, _) = host.run("click-flatten a");
    let (config, others) = archive::config(written.as_bytes()).expect("an archive");
    assert_eq!((String::from_utf8(config).unwrap().as_str(), &others[..]), (FLAT, &members[1..]));
    assert_eq!(host.run("click-flatten --config a").0, FLAT);
}

#[test]
fn what_cannot_be_read_or_written_is_a_failure() {
    let host = Memory::new(&[("a", b"Source -> Sink")]);
    assert_eq!(host.run("click-flatten b"), (String::new(), "b: not there\n".to_owned(), false));
    assert_eq!(host.run("click-flatten -o full a"), (String::new(), "disk full\n".to_owned(), false));
    assert_eq!(host.run("click-flatten -o b a"), (String::new(), String::new(), true));
    assert_eq!(host.written.borrow()["b"], FLAT.as_bytes());
}

/// The host is asked only for what Click's own tool cannot find.
#[test]
fn check_asks_the_host_last() {
    let host = Memory::new(&[
        ("good", b"Source -> Sink"),
        ("unknown", b"Source -> Other -> Sink"),
        ("bad", b"Source -> Sink; Counter -> Sink"),
    ]);
    let said = |file: &str| host.run(&format!("click-check {file}")).1;
    assert_eq!(said("good"), "2 elements are too many\n");
    assert_eq!(said("unknown"), "unknown:1: warning: unknown element class 'Other'\n");
    assert_eq!(said("bad"), "bad:1: too few inputs for 'Counter@3', 1 required\n");
}
