//! DPDK's rte_fib and rte_fib6, as a program of its own beside this one: `dpdk.c`, compiled when it is asked for.

use super::Family;
use super::subjects::How;
use lpm::Prefix;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running program.
pub(super) struct Dpdk {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: PathBuf,
    /// What it said about itself.
    pub(super) note: String,
}

impl Dpdk {
    /// Compiles it, and hands it routes and traces.
    ///
    /// # Errors
    /// Why it cannot be had here.
    pub(super) fn start<K: Family>(routes: &[(Prefix<K>, u32)], traces: &[Vec<K>]) -> Result<Dpdk, String> {
        let folder =
            std::env::temp_dir().join(format!("clique-bench-lpm-{}-{}", K::BITS, std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let program = compile(&folder)?;
        let mut files = vec![write(&folder, "routes", &record(routes))?];
        for (number, trace) in traces.iter().enumerate() {
            let bytes: Vec<u8> = trace.iter().flat_map(|addr| addr.for_dpdk()).collect();
            files.push(write(&folder, &number.to_string(), &bytes)?);
        }
        // With huge pages, as its users have it, if the system has set some aside.
        run::<K>(&program, "huge", &files, &folder).or_else(|_| run::<K>(&program, "small", &files, &folder))
    }

    /// As [`Subject::time`](super::subjects::Subject::time), with trace and places by number; `None` if the processor
    /// lacks what it takes.
    pub(super) fn time(
        &mut self,
        trace: usize,
        how: How,
        vector: bool,
        [warm, first, count]: [usize; 3],
    ) -> Result<Option<f64>, String> {
        let How { batch, cold } = how;
        let order = format!("{trace} {batch} {cold} {} {warm} {first} {count}\n", u8::from(vector));
        self.orders.write_all(order.as_bytes()).map_err(|e| format!("dpdk.c: {e}"))?;
        let answer: f64 =
            line(&mut self.answers)?.parse().map_err(|e| format!("what dpdk.c printed: {e}"))?;
        Ok((answer >= 0.0).then_some(answer))
    }
}

impl Drop for Dpdk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn compile(folder: &Path) -> Result<PathBuf, String> {
    let source = write(folder, "dpdk.c", include_bytes!("dpdk.c"))?;
    let program = folder.join("dpdk");
    let config = Command::new("pkg-config").args(["--cflags", "--libs", "libdpdk"]).output();
    let config = config.map_err(|e| format!("cannot run pkg-config: {e}"))?;
    if !config.status.success() {
        return Err("pkg-config knows no libdpdk (is dpdk-dev installed?)".to_owned());
    }
    let flags = String::from_utf8_lossy(&config.stdout).into_owned();
    let output = Command::new("cc")
        .args(["-O3", "-march=native", "-o"])
        .args([&program, &source])
        .args(flags.split_whitespace())
        .output()
        .map_err(|e| format!("cannot run the C compiler: {e}"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("dpdk.c does not compile: {}", complaint.lines().next().unwrap_or("")));
    }
    Ok(program)
}

fn run<K: Family>(program: &Path, pages: &str, files: &[PathBuf], folder: &Path) -> Result<Dpdk, String> {
    let mut child = Command::new(program)
        .args([if K::BITS == 32 { "4" } else { "6" }, pages])
        .args(files)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("dpdk.c cannot be talked to".to_owned());
    };
    let mut answers = BufReader::new(answers);
    let said = line(&mut answers);
    let Some(Ok([_, seconds, faults])) = said
        .as_ref()
        .ok()
        .and_then(|said| said.strip_prefix("ready "))
        .map(|said| <[&str; 3]>::try_from(said.split(' ').collect::<Vec<_>>()))
    else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("dpdk.c with {pages} pages does not start"));
    };
    let note = format!("{pages} pages, built in {seconds} s, {faults} routes refused");
    Ok(Dpdk { child, orders, answers, folder: folder.to_owned(), note })
}

fn line(answers: &mut impl BufRead) -> Result<String, String> {
    let mut text = String::new();
    loop {
        text.clear();
        match answers.read_line(&mut text) {
            Ok(0) => return Err("dpdk.c ended early".to_owned()),
            Err(e) => return Err(format!("dpdk.c: {e}")),
            // The library prints lines of its own.
            Ok(_) if text.starts_with("ready ") || text.trim().parse::<f64>().is_ok() => {
                return Ok(text.trim().to_owned());
            }
            Ok(_) => {}
        }
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    let path = folder.join(name);
    std::fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

/// The routes as `dpdk.c` reads them.
fn record<K: Family>(routes: &[(Prefix<K>, u32)]) -> Vec<u8> {
    let one = |&(prefix, id): &(Prefix<K>, u32)| {
        let numbers = [u32::from(prefix.len()), id].map(u32::to_ne_bytes);
        prefix.addr().for_dpdk().into_iter().chain(numbers.into_iter().flatten())
    };
    routes.iter().flat_map(one).collect()
}
