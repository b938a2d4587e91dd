//! Pulls from its inputs in turn.
//!
//! ```click
//! RoundRobinSched([MAX])
//! ```
//!
//! A pull is answered from the input after the one that supplied the last packet or, if that is empty, from the next
//! one that has a packet.
//!
//! SimpleRoundRobinSched is another name for it.
//!
//! Ports: any number of inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `MAX` (integer): how many inputs FastClick tries before it gives up; accepted, but here all are tried.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! s :: RoundRobinSched -> Discard;
//! InfiniteSource -> Queue -> [0] s;
//! InfiniteSource -> Queue -> [1] s;
//! ```
//!
//! # See also
//! PrioSched, RoundRobinSwitch

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Pull, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("RoundRobinSched", create)
    .ports("-/1")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .doc(router::manual!("round_robin_sched.rs"));

/// Packets are asked for in rounds: each input is asked at once for its share, and the answers are dealt out in turn. That is
/// what packet by packet would give, and only the last inputs of the last round can have been asked in vain.
struct RoundRobinSched {
    next: usize,
    /// Packets still wanted.
    want: usize,
    /// Inputs that answered this request with less than was asked for.
    barren: Vec<bool>,
    /// The inputs of this round, in turn, with what they are asked for and then what they gave, last packet first.
    round: Vec<(usize, usize, Option<Batch>)>,
    /// How many of them answered.
    answered: usize,
    got: Option<Batch>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut max = None::<u32>;
    config.args().positional("MAX", &mut max).finish()?;
    let inputs = config.inputs();
    Ok(Box::new(RoundRobinSched {
        next: 0,
        want: 0,
        barren: vec![false; inputs],
        round: Vec::with_capacity(inputs),
        answered: 0,
        got: None,
    }))
}

impl RoundRobinSched {
    /// Divides what is still wanted among the inputs that may have packets.
    fn begin_round(&mut self) -> Pull {
        let inputs = self.barren.len();
        let in_turn = (self.next..inputs).chain(0..self.next);
        self.answered = 0;
        self.round.clear();
        self.round.extend(in_turn.filter(|&input| !self.barren[input]).map(|input| (input, 0, None)));
        let parts = self.round.len();
        for (place, (_, share, _)) in self.round.iter_mut().enumerate() {
            *share = (self.want + parts - 1 - place) / parts;
        }
        self.round.retain(|&(_, share, _)| share > 0);
        self.ask()
    }

    fn ask(&mut self) -> Pull {
        match self.round.get(self.answered) {
            Some(&(input, want, _)) => Pull::Ask { input, want },
            None => self.got.take().map_or(Pull::Nothing, Pull::Give),
        }
    }

    /// Takes a packet from each answer in turn until there are none.
    fn deal(&mut self, got: &mut Batch) {
        let mut left: usize = self.round.iter().flat_map(|(_, _, answer)| answer).map(Batch::len).sum();
        self.want -= left;
        while left > 0 {
            for (input, _, answer) in &mut self.round {
                if let Some(packet) = answer.as_mut().and_then(Batch::pop) {
                    got.push(packet);
                    self.next = if *input + 1 == self.barren.len() { 0 } else { *input + 1 };
                    left -= 1;
                }
            }
        }
    }
}

impl Element for RoundRobinSched {
    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        self.want = want;
        self.barren.fill(false);
        self.got = Some(cx.batch());
        self.begin_round()
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        let Some((_, share, answer)) = self.round.get_mut(self.answered) else { return Pull::Give(batch) };
        self.barren[port] = batch.len() < *share;
        batch.packets_mut().reverse();
        *answer = Some(batch);
        self.answered += 1;
        if self.answered < self.round.len() {
            return self.ask();
        }
        if let Some(mut got) = self.got.take() {
            self.deal(&mut got);
            self.got = Some(got);
        }
        self.round.drain(..).flat_map(|(_, _, answer)| answer).for_each(|answer| cx.consume(answer));
        self.begin_round()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    /// What packet by packet gives, whatever is in the queues and whatever the burst.
    #[test]
    fn rounds_deal_as_single_packets_do() {
        for (lengths, burst) in
            [([9, 2, 4], 5), ([1, 1, 8], 10), ([0, 6, 3], 4), ([5, 0, 0], 32), ([3, 3, 3], 9)]
        {
            let mut config = format!("s :: RoundRobinSched -> Print(MAXLENGTH 1) -> Discard(BURST {burst});");
            let mut queues = Vec::new();
            for (input, length) in lengths.into_iter().enumerate() {
                let byte = ["a", "b", "c"][input];
                config += &format!(
                    " InfiniteSource(DATA {byte}, LIMIT {length}, BURST 32) -> Queue -> [{input}] s;"
                );
                queues.push(vec![byte; length]);
            }
            let mut expected = Vec::new();
            while queues.iter().any(|queue| !queue.is_empty()) {
                expected.extend(queues.iter_mut().filter_map(Vec::pop));
            }
            let lines = run(&(config + "RatedSource(LIMIT 4, STOP true) -> Discard;"));
            let order: Vec<_> = lines.lines().map(|line| line.rsplit(' ').next().unwrap_or("")).collect();
            let expected: Vec<_> = expected.iter().map(|byte| format!("{:x}", byte.as_bytes()[0])).collect();
            assert_eq!(order, expected, "{lengths:?}");
        }
    }

    /// Inputs alternate packet by packet, whatever the burst; one that runs dry is passed over.
    #[test]
    fn inputs_alternate_packet_by_packet() {
        let lines = run("s :: RoundRobinSched -> Print(MAXLENGTH 1) -> Discard(BURST 5);
                         InfiniteSource(DATA a, LIMIT 3, BURST 3) -> Queue -> [0] s;
                         InfiniteSource(DATA b, LIMIT 1) -> Queue -> [1] s;
                         InfiniteSource(DATA c, LIMIT 2, BURST 2) -> Queue -> [2] s;
                         RatedSource(LIMIT 4, STOP true) -> Discard;");
        let order: Vec<_> = lines.lines().map(|line| line.rsplit(' ').next().unwrap_or("")).collect();
        assert_eq!(order, ["61", "62", "63", "61", "63", "61"]);
    }
}
