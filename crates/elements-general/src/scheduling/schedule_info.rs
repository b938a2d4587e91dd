//! Sets how often elements' tasks run.
//!
//! ```click
//! ScheduleInfo(ELEMENT PARAM, ...)
//! ```
//!
//! The task of ELEMENT runs in proportion to PARAM: one with 2 runs four times as often as one with 0.5. The default
//! is 1, which is 1024 tickets. ELEMENT can also be a compound element: then PARAM multiplies the parameters of the
//! elements within it. If an outer ScheduleInfo names an inner element directly, its parameter replaces those given
//! further in. A task with 0 does not run. Names of elements that do not exist have no effect. Arguments that are not
//! of the form `ELEMENT PARAM` cause a warning.
//!
//! Tasks on different workers do not compete.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! Each argument is a name and a number.
//!
//! # Example
//! ```click
//! a :: InfiniteSource -> Discard; b :: InfiniteSource -> Discard;
//! ScheduleInfo(a 4, b 0.5)
//! ```
//!
//! # See also
//! StaticThreadSched, StrideSched

use router::{Call, Class, Config, ConfigError, Cx, DEFAULT_TICKETS, Element, Info, MAX_TICKETS, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("ScheduleInfo", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .phase(100) // when tasks are there, in their order
    .doc(router::manual!("schedule_info.rs"));

struct ScheduleInfo;

/// Numbers as large as this cannot be held with ten bits behind the point.
const MOST: f64 = (1 << 22) as f64;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let most = f64::from(MAX_TICKETS) / f64::from(DEFAULT_TICKETS);
    let (entries, malformed) = read(config.text());
    // As in Click, the other arguments count all the same.
    (0..malformed).for_each(|_| config.warn("expected 'ELEMENTNAME PARAM'"));
    if entries.iter().any(|(_, parameter)| *parameter > most) {
        config.warn(format!("ScheduleInfo too high; reduced to {most}"));
    }
    Ok(Box::new(ScheduleInfo))
}

/// The names and parameters in a configuration string, and how many arguments are something else.
fn read(text: &str) -> (Vec<(String, f64)>, usize) {
    let (mut entries, mut malformed) = (Vec::new(), 0);
    for arg in lang::conf::split_args(text) {
        let words = lang::conf::split_spaces(&arg);
        let parameter =
            |text: &String| text.parse().ok().filter(|&parameter| (0.0..MOST).contains(&parameter));
        match (words.as_slice(), words.get(1).and_then(parameter)) {
            ([], _) => {}
            ([name, _], Some(parameter)) => entries.push((name.clone(), parameter)),
            _ => malformed += 1,
        }
    }
    (entries, malformed)
}

/// What all ScheduleInfo elements say: full names and parameters, with the depth at which each is said.
fn all(info: &Info) -> Vec<(usize, String, f64)> {
    let mut all = Vec::new();
    for node in info.nodes.iter().filter(|node| node.class.name == CLASS.name) {
        let compound = node.name.rfind('/').map_or("", |slash| &node.name[..=slash]);
        let depth = compound.matches('/').count();
        for (name, parameter) in read(&node.config).0 {
            all.push((depth, format!("{compound}{name}"), parameter));
        }
    }
    all
}

/// The parameter of an element: what the outermost one to name it says, times what is said about compounds around it
/// further out than that.
fn parameter(all: &[(usize, String, f64)], name: &str) -> Option<f64> {
    let own = all.iter().filter(|(_, named, _)| named == name).min_by_key(|(depth, ..)| *depth);
    let around = all.iter().filter(|(depth, named, _)| {
        let within = name.strip_prefix(named.as_str()).is_some_and(|rest| rest.starts_with('/'));
        within && own.is_none_or(|(own, ..)| depth < own)
    });
    let factors: Vec<f64> = around.map(|(.., factor)| *factor).collect();
    match own {
        None if factors.is_empty() => None,
        _ => Some(own.map_or(1.0, |(.., own)| *own) * factors.iter().product::<f64>()),
    }
}

impl Element for ScheduleInfo {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let info = cx.info().clone();
        // One of them does it for all.
        if info.nodes.iter().position(|node| node.class.name == CLASS.name) != Some(cx.index()) {
            return Ok(());
        }
        let all = all(&info);
        for (element, node) in info.nodes.iter().enumerate().filter(|(element, _)| info.has_task(*element)) {
            if let Some(parameter) = parameter(&all, &node.name) {
                let tickets = (f64::from(DEFAULT_TICKETS) * parameter).round() as u32; // saturates
                let own = node.name.rsplit('/').next().unwrap_or(&node.name);
                let call = match tickets.min(MAX_TICKETS) {
                    0 => Call::write(format!("{own}.scheduled"), "false"),
                    // At once, so that a script that steers the driver finds them.
                    tickets if node.workers == [cx.worker()] => {
                        cx.tasks().set_tickets_of(element, tickets);
                        continue;
                    }
                    tickets => Call::write(format!("{own}.tickets"), tickets.to_string()),
                };
                cx.handlers().call(call.within(element));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{run, run_and_read};

    #[test]
    fn turns_are_in_proportion_to_tickets() {
        let config = "a :: InfiniteSource -> x :: Discard; b :: InfiniteSource -> y :: Discard;
                      ScheduleInfo(a 4, b 0.5); InfiniteSource(LIMIT 200, STOP true) -> Discard";
        let read = run_and_read(config, &["a.tickets", "b.tickets", "x.count", "y.count"]);
        assert_eq!(read[..2], ["4096", "512"]);
        let count = |at: usize| read[at].parse::<f64>().unwrap_or(0.0);
        assert!((count(2) / count(3) - 8.0).abs() < 0.2, "{read:?}");
    }

    /// A script that steers the driver runs before anything else.
    #[test]
    fn from_the_beginning() {
        let config = "a :: InfiniteSource -> Discard; ScheduleInfo(a 0.5); DriverManager(print a.tickets)";
        assert_eq!(run(config), "512\n");
    }

    #[test]
    fn the_factor_of_a_compound_multiplies_those_inside() {
        let compound = "elementclass C { i :: InfiniteSource(LIMIT 1) -> Discard; ScheduleInfo(i 0.5) }; c :: C; DriverManager(wait 1)";
        for (outer, tickets) in
            [("", "512"), ("ScheduleInfo(c 4)", "2048"), ("ScheduleInfo(c 4, c/i 10.5)", "10752")]
        {
            assert_eq!(run_and_read(&format!("{compound}; {outer}"), &["c/i.tickets"]), [tickets], "{outer}");
        }
    }

    /// Arguments that are something else do not keep the others from counting.
    #[test]
    fn bad_arguments() {
        let config =
            "a :: InfiniteSource -> Discard; ScheduleInfo(a, a -1, a 1 2, a many, a 2); Script(wait 1, stop)";
        assert_eq!(run_and_read(config, &["a.tickets"]), ["2048"]);
    }

    /// Tasks run in proportion to their tickets, those without a limit for ever.
    #[test]
    fn tasks_run_in_proportion_to_their_tickets() {
        let config = "a :: SchedOrderTest(1, SIZE 9, STOP true); b :: SchedOrderTest(2, SIZE 30, LIMIT 10); c :: SchedOrderTest(3);
                      ScheduleInfo(a 1, b 2, c 3)";
        let read = run_and_read(config, &["a.order", "c.order"]);
        assert_eq!(read[0], read[1], "there is one list");
        let count = |id: &str| read[0].split_whitespace().filter(|word| *word == id).count();
        assert_eq!([count("1") + count("3"), count("2")], [20, 10], "{read:?}");
        assert!(count("3") > count("1"), "{read:?}");
    }
}
