//! Tables that are written in other languages, in programs of their own beside this one, compiled when they are asked for: DPDK's
//! rte_fib and rte_fib6 (`dpdk.c`), and BART (`bart.go`). All speak as `dpdk.c` describes.

use super::family::Family;
use super::subjects::Workload;
use lpm::Prefix;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What such a program is made of.
pub(super) struct Recipe {
    /// Whose tables it has.
    pub(super) name: &'static str,
    /// Their names, in the order of their numbers.
    pub(super) tables: [&'static str; 2],
    /// What its second argument can be, the best first.
    modes: &'static [&'static str],
    /// Compiles it in a folder.
    compile: fn(&Path) -> Result<PathBuf, String>,
}

/// With huge pages, as its users have it, if the system has set some aside.
pub(super) const DPDK: Recipe = Recipe {
    name: "DPDK",
    tables: ["rte_fib scalar", "rte_fib AVX-512"],
    modes: &["huge", "small"],
    compile: compile_dpdk,
};

pub(super) const BART: Recipe =
    Recipe { name: "BART", tables: ["BART Table", "BART Fast"], modes: &["go"], compile: compile_bart };

/// A running program.
pub(super) struct Beside {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: PathBuf,
    /// Names of its tables.
    pub(super) tables: [&'static str; 2],
    /// What it said about itself.
    pub(super) note: String,
}

impl Beside {
    /// Compiles it, and hands it routes and traces.
    ///
    /// # Errors
    /// Why it cannot be had here.
    pub(super) fn start<K: Family>(
        recipe: &Recipe,
        routes: &[(Prefix<K>, u32)],
        traces: &[Vec<K>],
    ) -> Result<Beside, String> {
        let folder = std::env::temp_dir().join(format!(
            "clique-bench-lpm-{}-{}-{}",
            recipe.name,
            K::BITS,
            std::process::id()
        ));
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let started = Self::start_in(&folder, recipe, routes, traces);
        if started.is_err() {
            let _ = std::fs::remove_dir_all(&folder);
        }
        started
    }

    fn start_in<K: Family>(
        folder: &Path,
        recipe: &Recipe,
        routes: &[(Prefix<K>, u32)],
        traces: &[Vec<K>],
    ) -> Result<Beside, String> {
        let program = (recipe.compile)(folder)?;
        let mut files = vec![write(folder, "routes", &record(routes))?];
        for (number, trace) in traces.iter().enumerate() {
            let bytes: Vec<u8> = trace.iter().flat_map(|addr| addr.raw()).collect();
            files.push(write(folder, &number.to_string(), &bytes)?);
        }
        let mut why = String::new();
        for mode in recipe.modes {
            match run::<K>(&program, mode, &files, folder, recipe) {
                Ok(running) => return Ok(running),
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// As [`Subject::time`](super::subjects::Subject::time), with trace, table and places by number; `None` if the processor
    /// lacks what it takes.
    pub(super) fn time(
        &mut self,
        trace: usize,
        workload: Workload,
        table: usize,
        [warm, first, count]: [usize; 3],
    ) -> Result<Option<f64>, String> {
        let Workload { batch, cold } = workload;
        let order = format!("{trace} {batch} {cold} {table} {warm} {first} {count}\n");
        self.orders.write_all(order.as_bytes()).map_err(|e| format!("{}: {e}", self.tables[table]))?;
        let answer: f64 = line(&mut self.answers)?.parse().map_err(|e| format!("what it printed: {e}"))?;
        Ok((answer >= 0.0).then_some(answer))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn compile_dpdk(folder: &Path) -> Result<PathBuf, String> {
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

fn compile_bart(folder: &Path) -> Result<PathBuf, String> {
    write(folder, "main.go", include_bytes!("bart.go"))?;
    write(folder, "go.mod", b"module bench\n\ngo 1.24.0\n\nrequire github.com/gaissmai/bart v0.30.0\n")?;
    let output = Command::new("go")
        .args(["build", "-mod=mod", "-o", "bart", "."])
        .current_dir(folder)
        .output()
        .map_err(|e| format!("cannot run go: {e}"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("bart.go does not compile: {}", complaint.lines().last().unwrap_or("")));
    }
    Ok(folder.join("bart"))
}

fn run<K: Family>(
    program: &Path,
    mode: &str,
    files: &[PathBuf],
    folder: &Path,
    recipe: &Recipe,
) -> Result<Beside, String> {
    let mut child = Command::new(program)
        .args([if K::BITS == 32 { "4" } else { "6" }, mode])
        .args(files)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(format!("{} cannot be talked to", recipe.name));
    };
    let mut answers = BufReader::new(answers);
    let said = line(&mut answers);
    let Some(Ok([huge, seconds, faults])) = said
        .as_ref()
        .ok()
        .and_then(|said| said.strip_prefix("ready "))
        .map(|said| <[&str; 3]>::try_from(said.split(' ').collect::<Vec<_>>()))
    else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("{} ({mode}) does not start", recipe.name));
    };
    let pages = if huge == "1" { "huge" } else { "small" };
    let note = format!("{} with {pages} pages, built in {seconds} s, {faults} routes refused", recipe.name);
    Ok(Beside { child, orders, answers, folder: folder.to_owned(), tables: recipe.tables, note })
}

fn line(answers: &mut impl BufRead) -> Result<String, String> {
    let mut text = String::new();
    loop {
        text.clear();
        match answers.read_line(&mut text) {
            Ok(0) => return Err("a program beside this one ended early".to_owned()),
            Err(e) => return Err(format!("a program beside this one: {e}")),
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

/// The routes as these programs read them.
fn record<K: Family>(routes: &[(Prefix<K>, u32)]) -> Vec<u8> {
    let one = |&(prefix, id): &(Prefix<K>, u32)| {
        let numbers = [u32::from(prefix.len()), id].map(u32::to_ne_bytes);
        prefix.addr().raw().into_iter().chain(numbers.into_iter().flatten())
    };
    routes.iter().flat_map(one).collect()
}
