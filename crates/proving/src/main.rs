//! Tells stories: many seeds, or one file.

#![forbid(unsafe_code)]

use clap::Parser;
use proving::{family, story};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use story::{Outcome, Story};

/// Runs whole routers in a small simulated world, against models of what they must do.
#[derive(Parser)]
struct Options {
    /// The families to draw stories from, by default all
    #[arg(long)]
    family: Vec<String>,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// How many seeds of each family
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// Stop after so many seconds
    #[arg(long)]
    seconds: Option<u64>,
    /// Stories from files instead of seeds
    files: Vec<std::path::PathBuf>,
    /// Print one JSON object a story
    #[arg(long)]
    json: bool,
    /// Shrink stories that go wrong, with so many tries each
    #[arg(long, default_value_t = 0)]
    shrink: usize,
    /// Stop at the first story that goes wrong
    #[arg(long)]
    first: bool,
    /// Print the stories themselves, and the first configurations
    #[arg(long)]
    show: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let stories = match stories(&options) {
        Ok(stories) => stories,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let (mut told, mut wrong, began) = (0_u64, 0_u64, Instant::now());
    for (name, story) in stories {
        let late = options.seconds.is_some_and(|seconds| began.elapsed() > Duration::from_secs(seconds));
        if late || options.first && wrong > 0 {
            break;
        }
        let outcome = match story::run(&story) {
            Ok(outcome) => outcome,
            Err(error) => {
                eprintln!("{name}: {error}");
                return ExitCode::from(2);
            }
        };
        told += 1;
        wrong += u64::from(outcome.fault().is_some());
        tell(&options, &name, &story, &outcome);
        if std::io::stderr().is_terminal() && !options.json {
            eprint!("\r{told} stories, {wrong} went wrong ");
            let _ = std::io::stderr().flush();
        }
    }
    if !options.json {
        let seconds = began.elapsed().as_secs_f64();
        println!("{told} stories in {seconds:.1} s, {wrong} went wrong");
    }
    if wrong > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The stories to tell, each with its name. Seeds go round the families.
fn stories(options: &Options) -> Result<Box<dyn Iterator<Item = (String, Story)>>, String> {
    if !options.files.is_empty() {
        let mut stories = Vec::new();
        for file in &options.files {
            let text =
                std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            let story = text.parse().map_err(|error| format!("{}: {error}", file.display()))?;
            stories.push((file.display().to_string(), story));
        }
        return Ok(Box::new(stories.into_iter()));
    }
    let named =
        options.family.iter().map(|name| family::find(name).ok_or_else(|| format!("no family '{name}'")));
    let mut families = named.collect::<Result<Vec<_>, _>>()?;
    if families.is_empty() {
        families = family::all().to_vec();
    }
    let seeds = options.from..options.from + options.seeds;
    let all = seeds.flat_map(move |seed| {
        let of = move |family: &&'static dyn family::Family| {
            (format!("{} {seed}", family.name()), story::draw(*family, seed))
        };
        families.iter().map(of).collect::<Vec<_>>()
    });
    Ok(Box::new(all))
}

fn tell(options: &Options, name: &str, story: &Story, outcome: &Outcome) {
    let faults: Vec<String> = outcome.faults.iter().map(ToString::to_string).collect();
    if options.json {
        println!(
            "{}",
            json!({
                "name": name, "family": story.family, "seed": story.seed, "workers": story.workers, "vector": story.vector,
                "steps": story.steps.len(), "trace": outcome.trace, "frames": outcome.frames, "messages": outcome.messages,
                "simulated_ns": outcome.simulated_ns, "found": outcome.found, "faults": faults,
            })
        );
    } else if outcome.fault().is_some() {
        println!("{name}: {} faults", outcome.found);
        faults.iter().for_each(|fault| println!("  {fault}"));
    }
    if options.show {
        println!("{story}");
        if let Some(family) = family::find(&story.family) {
            println!("{}", family.config(0, &story.knobs));
        }
    }
    if outcome.fault().is_some() && options.shrink > 0 {
        let fails = |story: &Story| story::run(story).is_ok_and(|outcome| outcome.fault().is_some());
        let short = story::shrink(story, options.shrink, fails);
        println!("{short}");
        let outcome = story::run(&short).map(|outcome| outcome.faults).unwrap_or_default();
        outcome.iter().for_each(|fault| println!("# {fault}"));
    }
}
