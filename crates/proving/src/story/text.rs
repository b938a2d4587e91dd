//! A story as text: one step a line, to be read, kept and told again.

use super::{DeviceFate, FlowStep, Knobs, Step, Story, Weather};
use crate::world::Kind;
use std::fmt::{self, Display};
use std::str::{FromStr, SplitWhitespace};

impl Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "family {}", self.family)?;
        writeln!(f, "seed {}", self.seed)?;
        writeln!(f, "workers {}", self.workers)?;
        writeln!(f, "vector {}", self.vector)?;
        for (name, position) in self.knobs.turned() {
            writeln!(f, "knob {name} {position}")?;
        }
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Flow(flow) => flow.fmt(f),
            Step::Wait(ns) => write!(f, "wait {}", Time(*ns)),
            Step::Leap(ns) => write!(f, "leap {}", Time(*ns)),
            Step::Write { machine, path, value } => write!(f, "write {machine} {path} {value}"),
            Step::Read(machine) => write!(f, "read {machine}"),
            Step::Swap { machine, knob, value } => write!(f, "swap {machine} {knob} {value}"),
            Step::Trial { machine, knob, value, ns } => {
                write!(f, "trial {machine} {knob} {value} {}", Time(*ns))
            }
            Step::Wrong { machine, kind } => write!(f, "wrong {machine} {kind}"),
            Step::Restart { machine, workers } => write!(f, "restart {machine} workers {workers}"),
            Step::Upgrade(machine) => write!(f, "upgrade {machine}"),
            Step::Link { link, weather } => match weather {
                Weather::Good => write!(f, "link {link} good"),
                Weather::Down => write!(f, "link {link} down"),
                Weather::Loss(loss) => write!(f, "link {link} loss {loss}"),
                Weather::Jitter(ns) => write!(f, "link {link} jitter {}", Time(*ns)),
            },
            Step::Move(host) => write!(f, "move {host}"),
            Step::Capture { machine, kind } => write!(f, "capture {machine} {kind}"),
            Step::Device { machine, port, fate } => {
                let fate = match fate {
                    DeviceFate::Gone => "gone",
                    DeviceFate::Back => "back",
                    DeviceFate::Anew => "anew",
                };
                write!(f, "device {machine} {port} {fate}")
            }
            Step::Storm { machine, seed } => write!(f, "storm {machine} {seed}"),
            Step::Stall { machine, worker, ns } => write!(f, "stall {machine} worker {worker} {}", Time(*ns)),
        }
    }
}

impl Display for FlowStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Udp => "udp",
            Kind::Tcp => "tcp",
            Kind::Ping => "ping",
        };
        write!(f, "flow {} {} {kind} count {} size {}", self.from, self.to, self.count, self.size)?;
        write!(f, " gap {} ttl {} ports {} {}", Time(self.gap_ns), self.ttl, self.ports[0], self.ports[1])?;
        if self.whole {
            f.write_str(" whole")?;
        }
        if self.spread {
            f.write_str(" spread")?;
        }
        if self.ecn > 0 { write!(f, " ecn {}", self.ecn) } else { Ok(()) }
    }
}

/// A time with the largest unit that it is a whole number of.
struct Time(i64);

const UNITS: [(&str, i64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

impl Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, unit) = UNITS.into_iter().find(|&(_, unit)| self.0 % unit == 0).unwrap_or(UNITS[3]);
        write!(f, "{}{name}", self.0 / unit)
    }
}

impl FromStr for Story {
    type Err = String;

    /// Reads a story. Empty lines, and what follows a `#`, are for people.
    fn from_str(text: &str) -> Result<Story, String> {
        let mut story = Story {
            family: String::new(),
            seed: 0,
            workers: 1,
            vector: 32,
            knobs: Knobs::default(),
            steps: Vec::new(),
        };
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                read_line(&mut story, line).map_err(|error| format!("line {}: {error}", number + 1))?;
            }
        }
        if story.family.is_empty() { Err("the story names no family".into()) } else { Ok(story) }
    }
}

fn read_line(story: &mut Story, line: &str) -> Result<(), String> {
    let mut words = Words(line.split_whitespace());
    match words.word()? {
        "family" => story.family = words.text()?,
        "seed" => story.seed = words.value()?,
        "workers" => story.workers = words.value()?,
        "vector" => story.vector = words.value()?,
        "knob" => {
            let name = words.text()?;
            story.knobs.set(&name, words.value()?);
        }
        first => story.steps.push(read_step(first, line, &mut words)?),
    }
    match words.0.next() {
        Some(word) => Err(format!("'{word}' is too much")),
        None => Ok(()),
    }
}

fn read_step(first: &str, line: &str, words: &mut Words<'_>) -> Result<Step, String> {
    Ok(match first {
        "flow" => Step::Flow(read_flow(words)?),
        "wait" => Step::Wait(words.time()?),
        "leap" => Step::Leap(words.time()?),
        "write" => {
            // The value is the rest of the line, spaces and all.
            let mut parts = line.splitn(4, ' ').skip(1).map(str::to_owned);
            words.0 = "".split_whitespace();
            let mut part = || parts.next().ok_or_else(|| "something is missing at the end".to_owned());
            Step::Write { machine: part()?, path: part()?, value: part().unwrap_or_default() }
        }
        "read" => Step::Read(words.text()?),
        "swap" => Step::Swap { machine: words.text()?, knob: words.text()?, value: words.value()? },
        "trial" => Step::Trial {
            machine: words.text()?,
            knob: words.text()?,
            value: words.value()?,
            ns: words.time()?,
        },
        "wrong" => Step::Wrong { machine: words.text()?, kind: words.text()? },
        "restart" => {
            let machine = words.text()?;
            words.expect("workers")?;
            Step::Restart { machine, workers: words.value()? }
        }
        "upgrade" => Step::Upgrade(words.text()?),
        "link" => Step::Link {
            link: words.text()?,
            weather: match words.word()? {
                "good" => Weather::Good,
                "down" => Weather::Down,
                "loss" => Weather::Loss(words.value()?),
                "jitter" => Weather::Jitter(words.time()?),
                other => return Err(format!("a link is not '{other}'")),
            },
        },
        "move" => Step::Move(words.text()?),
        "capture" => Step::Capture { machine: words.text()?, kind: words.text()? },
        "device" => Step::Device {
            machine: words.text()?,
            port: words.value()?,
            fate: match words.word()? {
                "gone" => DeviceFate::Gone,
                "back" => DeviceFate::Back,
                "anew" => DeviceFate::Anew,
                other => return Err(format!("an interface is not '{other}'")),
            },
        },
        "storm" => Step::Storm { machine: words.text()?, seed: words.value()? },
        "stall" => {
            let machine = words.text()?;
            words.expect("worker")?;
            Step::Stall { machine, worker: words.value()?, ns: words.time()? }
        }
        other => return Err(format!("'{other}' is no step")),
    })
}

fn read_flow(words: &mut Words<'_>) -> Result<FlowStep, String> {
    let (from, to) = (words.text()?, words.value()?);
    let kind = match words.word()? {
        "udp" => Kind::Udp,
        "tcp" => Kind::Tcp,
        "ping" => Kind::Ping,
        other => return Err(format!("'{other}' is no kind of flow")),
    };
    words.expect("count")?;
    let count = words.value()?;
    words.expect("size")?;
    let size = words.value()?;
    words.expect("gap")?;
    let gap_ns = words.time()?;
    words.expect("ttl")?;
    let ttl = words.value()?;
    words.expect("ports")?;
    let ports = [words.value()?, words.value()?];
    let (whole, spread) = (words.is_next("whole"), words.is_next("spread"));
    let ecn = if words.is_next("ecn") { words.value()? } else { 0 };
    Ok(FlowStep { from, to, kind, count, size, gap_ns, ttl, ecn, ports, whole, spread })
}

/// The rest of a line.
struct Words<'a>(SplitWhitespace<'a>);

impl<'a> Words<'a> {
    fn word(&mut self) -> Result<&'a str, String> {
        self.0.next().ok_or_else(|| "something is missing at the end".to_owned())
    }

    fn text(&mut self) -> Result<String, String> {
        self.word().map(str::to_owned)
    }

    fn value<T: FromStr>(&mut self) -> Result<T, String> {
        let word = self.word()?;
        word.parse().map_err(|_| format!("'{word}' is not what belongs here"))
    }

    fn time(&mut self) -> Result<i64, String> {
        let word = self.word()?;
        let digits = word.trim_end_matches(char::is_alphabetic);
        let unit = UNITS.into_iter().find(|&(name, _)| name == &word[digits.len()..]);
        match (digits.parse::<i64>(), unit) {
            (Ok(number), Some((_, unit))) => {
                number.checked_mul(unit).ok_or_else(|| format!("'{word}' is too long"))
            }
            _ => Err(format!("'{word}' is no time")),
        }
    }

    /// Takes a word if it is the next one.
    fn is_next(&mut self, word: &str) -> bool {
        let is = self.0.clone().next() == Some(word);
        if is {
            self.0.next();
        }
        is
    }

    fn expect(&mut self, expected: &str) -> Result<(), String> {
        let word = self.word()?;
        if word == expected { Ok(()) } else { Err(format!("'{word}' stands where '{expected}' belongs")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{family, story};

    #[test]
    fn every_story_that_is_drawn_can_be_read_back() {
        for family in family::all() {
            for seed in 0..200 {
                let story = story::draw(*family, seed);
                assert_eq!(story.to_string().parse(), Ok(story));
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let error = |text: &str| text.parse::<Story>().unwrap_err();
        assert_eq!(error("seed 1"), "the story names no family");
        assert_eq!(error("family x\nwait 5"), "line 2: '5' is no time");
        assert_eq!(error("family x\nlink a bad"), "line 2: a link is not 'bad'");
        assert_eq!(error("family x\n\nread a b # to b"), "line 3: 'b' is too much");
        assert_eq!(error("family x\nrestart a"), "line 2: something is missing at the end");
    }
}
