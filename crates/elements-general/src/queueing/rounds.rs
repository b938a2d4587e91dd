//! How often packets are replayed.

use router::Cx;
use std::time::Duration;

const NS_PER_S: i64 = 1_000_000_000;

/// How long sources have to bring their first packet.
pub(super) const FIRST_WAIT: Duration = Duration::from_millis(1);

/// The rounds that are left, and the time.
pub(super) struct Rounds {
    /// Rounds that are left; negative for ever.
    pub(super) left: i64,
    /// As many as the configuration says.
    given: i64,
    /// Seconds after which there are no more; 0 for ever.
    most_s: i64,
    /// Whether to say when a round is over.
    verbose: bool,
    /// When the first packet of all went.
    began_ns: Option<i64>,
}

impl Rounds {
    pub(super) fn new(left: i64, most_s: u32, verbose: bool) -> Rounds {
        Rounds { left, given: left, most_s: most_s.into(), verbose, began_ns: None }
    }

    /// Goes on with another configuration's rounds; if they were to be as many, with those that were left.
    pub(super) fn take_over(&mut self, old: &Rounds) {
        self.began_ns = old.began_ns;
        if self.given == old.given {
            self.left = old.left;
        }
    }

    /// Notes that a packet goes.
    pub(super) fn begin(&mut self, now_ns: i64) {
        self.began_ns.get_or_insert(now_ns);
    }

    /// The next packet will be the first of all again.
    pub(super) fn end(&mut self) {
        self.began_ns = None;
    }

    /// Time since the first packet.
    pub(super) fn passed_ns(&self, now_ns: i64) -> i64 {
        now_ns - self.began_ns.unwrap_or(now_ns)
    }

    /// Whether so many whole seconds are over that there are no more rounds.
    pub(super) fn is_over(&self, now_ns: i64) -> bool {
        self.most_s > 0 && self.passed_ns(now_ns) / NS_PER_S >= self.most_s
    }

    /// Whether even more seconds are over.
    pub(super) fn is_late(&self, now_ns: i64) -> bool {
        self.most_s > 0 && self.passed_ns(now_ns) / NS_PER_S > self.most_s
    }

    /// When they are over; the end of time if there is no limit.
    pub(super) fn over_ns(&self) -> i64 {
        match self.began_ns {
            Some(began_ns) if self.most_s > 0 => began_ns.saturating_add(self.most_s * NS_PER_S),
            _ => i64::MAX,
        }
    }

    /// A round is over.
    pub(super) fn count(&mut self, cx: &Cx<'_>) {
        let (left, most_s) = (self.left, self.most_s);
        let passed_s = self.passed_ns(cx.now_ns()) / NS_PER_S;
        let over = self.is_over(cx.now_ns());
        self.left = if over { 0 } else { left - i64::from(left > 0) };
        let name = cx.info().nodes[cx.index()].declaration();
        self.tell(cx, || match (most_s, over) {
            (0, _) => format!("{name}: Replay loop ({left} loops left)"),
            (_, true) => format!("Replay stopped after {passed_s} seconds ({left} loops left)"),
            _ => format!("{name}: continue after {passed_s}/{most_s} seconds ({left} loops left)"),
        });
        if self.left == 0 && !over {
            let early =
                if most_s > 0 { format!(" early after {passed_s}/{most_s} seconds") } else { String::new() };
            self.tell(cx, || format!("{name}: stopped{early} because there is 0 loops left"));
        }
    }

    /// Says something if that is wanted.
    pub(super) fn tell(&self, cx: &Cx<'_>, what: impl FnOnce() -> String) {
        if self.verbose {
            cx.log(what());
        }
    }
}

/// Says that packets are being kept.
pub(super) fn tell_loading(cx: &Cx<'_>, inputs: usize) {
    cx.log(format_args!("Loading {} with {inputs} inputs.", cx.name()));
}

/// Says that all packets are kept, and which input had no more, if one had.
pub(super) fn tell_loaded(cx: &Cx<'_>, packets: usize, dry: Option<usize>) {
    let dry = dry.map_or("-1".to_owned(), |input| input.to_string());
    cx.log(format_args!("{} : Successfully loaded {packets} packets. Input {dry} dried out.", cx.name()));
}
