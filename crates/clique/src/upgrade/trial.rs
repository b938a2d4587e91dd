//! Another program is tried before it takes the router's place: as a child, which opens nothing and changes nothing.

use super::image::FORM;
use crate::console::reason;
use crate::status::Status;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The subcommand by which a program is tried; behind it comes the router's command line.
pub(crate) const SUBCOMMAND: &str = "try-hand-over";
/// How long a program may take to read the configuration, which may name large files.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(10);
/// Bytes of an answer, at most.
const ANSWER_MAX: u64 = 1 << 20;

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) form: u32,
    /// The configuration that runs.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) parameters: Vec<(String, String)>,
}

/// What a program answers that could take over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) form: u32,
    pub(crate) version: String,
    /// Why it cannot, in lines.
    pub(crate) refused: Option<String>,
}

/// A program that was tried.
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) version: String,
    /// Which file it was: its device and number.
    id: (u64, u64),
}

fn id(path: &Path) -> std::io::Result<(u64, u64)> {
    let found = std::fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

impl Program {
    /// Whether another file has its name by now.
    pub(crate) fn is_replaced(&self) -> bool {
        id(&self.path).ok() != Some(self.id)
    }
}

/// Tries a program with the configuration that runs, and the command line that the router has.
///
/// # Errors
/// Why it cannot take over, in lines.
pub(crate) fn attempt(path: &Path, arguments: &[OsString], question: &Question) -> Result<Program, String> {
    let at = |error: std::io::Error| format!("{}: {}", path.display(), reason(&error));
    let path = path.canonicalize().map_err(at)?;
    let before = id(&path).map_err(at)?;
    let mut child = Command::new(&path)
        .arg(SUBCOMMAND)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(at)?;
    let answer = converse(&mut child, question);
    let over = child.try_wait();
    if !matches!(over, Ok(Some(_))) {
        let _ = child.kill();
        let _ = child.wait();
    }
    let silent =
        || format!("{}: no program that takes over a running router: it has not answered", path.display());
    let answer = answer.ok_or_else(silent)?;
    let verdict: Verdict = serde_json::from_slice(&answer).map_err(|_| silent())?;
    if let Some(why) = verdict.refused {
        return Err(why);
    }
    if verdict.form != FORM {
        let (its, own) = (verdict.form, FORM);
        return Err(format!(
            "{}: it takes over what has form {its}; this version hands over form {own}",
            path.display()
        ));
    }
    let program = Program { version: verdict.version, id: before, path };
    if program.is_replaced() {
        return Err(format!("{}: the file has changed while it was tried", program.path.display()));
    }
    Ok(program)
}

/// Sends a child the question and reads its answer, as long as there is patience.
fn converse(child: &mut Child, question: &Question) -> Option<Vec<u8>> {
    let (mut input, output) = (child.stdin.take()?, child.stdout.take()?);
    let text = serde_json::to_vec(question).ok()?;
    // A child that does not read must not hold this thread up, nor one that does not write.
    let asked = std::thread::spawn(move || drop(input.write_all(&text)));
    let heard = std::thread::spawn(move || {
        let mut answer = Vec::new();
        output.take(ANSWER_MAX).read_to_end(&mut answer).map(|_| answer).ok()
    });
    let until = Instant::now() + PATIENCE;
    while !heard.is_finished() || matches!(child.try_wait(), Ok(None)) {
        if Instant::now() > until {
            let _ = child.kill();
            return None;
        }
        std::thread::sleep(LOOK);
    }
    drop(asked);
    heard.join().ok()?
}

/// Answers as the program that is tried: reads the question from standard input. `check` finds what is wrong with the configuration.
pub(crate) fn answer(check: impl FnOnce(&Question) -> Result<(), String>) -> Status {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut text).map_err(|error| error.to_string());
    let asked =
        read.and_then(|_| serde_json::from_slice::<Question>(&text).map_err(|error| error.to_string()));
    let refused = asked.and_then(|question| {
        if question.form != FORM {
            let its = question.form;
            return Err(format!("it hands over what has form {its}; the new program takes over form {FORM}"));
        }
        check(&question)
    });
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let verdict = Verdict { form: FORM, version, refused: refused.err() };
    let text = serde_json::to_string(&verdict).unwrap_or_default();
    crate::console::write_result(None, &(text + "\n"))
}

/// The program that runs, opened before its file may be replaced: the way back.
///
/// # Errors
/// That it cannot be opened.
pub(crate) fn own_program() -> std::io::Result<File> {
    File::open("/proc/self/exe")
}
