//! Pulls from its inputs in proportion to their tickets.
//!
//! ```click
//! StrideSched(TICKETS0, ..., TICKETSN)
//! ```
//!
//! Input I has TICKETSI tickets. While all inputs have packets, each is pulled from in proportion to its tickets; an
//! input that is empty when its turn comes is skipped. An input with 0 tickets is never pulled from.
//!
//! Ports: any number of inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `TICKETS` (integer, 0 to 32768), one for each input.
//!
//! # Handlers
//! - `tickets0` and so on (read, write): the arguments.
//! - `config` (read): all of them.
//!
//! # Example
//! ```click
//! s :: StrideSched(1, 2) -> Discard;
//! InfiniteSource -> Queue -> [0] s;
//! InfiniteSource -> Queue -> [1] s;
//! ```
//!
//! # See also
//! StrideSwitch, RoundRobinSched, PrioSched, DRRSched

use super::strides::{SavedOrder, Strides};
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("StrideSched", create)
    .ports("1-/1")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .live()
    .holds("packets whose turn has not come")
    .doc(router::manual!("stride_sched.rs"));

/// A request is planned before inputs are asked: whose turn each packet is, if all have what they are asked for. So each
/// input is asked once for all of its packets. When one has fewer, the plan is made anew with what is known now; the turns
/// of the others keep their order, so they only get more.
struct StrideSched {
    strides: Strides,
    /// The order before this request.
    before: SavedOrder,
    inputs: Vec<Input>,
    /// Whose turn each packet is.
    turns: Vec<u32>,
    want: usize,
}

#[derive(Default)]
struct Input {
    /// Packets that it gave, last one first.
    got: Option<Batch>,
    /// Packets that it is to give, as planned.
    planned: usize,
    /// Whether it has no more.
    dry: bool,
}

impl Input {
    fn held(&self) -> usize {
        self.got.as_ref().map_or(0, Batch::len)
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let strides = Strides::read(config, config.inputs(), "input")?;
    let inputs = (0..config.inputs()).map(|_| Input::default()).collect();
    let turns = Vec::with_capacity(packet::BATCH_MAX);
    Ok(Box::new(StrideSched { strides, before: SavedOrder::default(), inputs, turns, want: 0 }))
}

impl StrideSched {
    /// Deals out turns to the inputs that have packets, or may have.
    fn plan(&mut self) {
        let StrideSched { strides, inputs, turns, .. } = self;
        turns.clear();
        inputs.iter_mut().for_each(|input| input.planned = 0);
        while turns.len() < self.want {
            let ready = |&port: &usize| !inputs[port].dry || inputs[port].planned < inputs[port].held();
            let mut passed = 0;
            let Some(port) = strides.in_line().inspect(|_| passed += 1).find(ready) else {
                strides.served_many(passed); // all were asked in vain
                return;
            };
            if passed == 1 {
                strides.served()
            } else {
                strides.served_many(passed)
            }
            inputs[port].planned += 1;
            turns.push(port as u32);
        }
    }

    /// Asks the next input that owes packets; once none does, gives them in turn.
    fn go_on(&mut self, cx: &mut Cx<'_>) -> Pull {
        let owes = |input: &Input| !input.dry && input.planned > input.held();
        if let Some(input) = self.inputs.iter().position(owes) {
            let Input { planned, .. } = self.inputs[input];
            return Pull::Ask { input, want: planned - self.inputs[input].held() };
        }
        let mut batch = cx.batch();
        let turns = self.turns.iter().map(|&port| port as usize);
        batch.extend(turns.filter_map(|port| self.inputs[port].got.as_mut()?.pop()));
        for input in &mut self.inputs {
            input.got.take_if(|got| got.is_empty()).into_iter().for_each(|got| cx.consume(got));
        }
        if batch.is_empty() {
            let active = self.strides.in_line().any(|input| cx.signals().may_have(input));
            cx.signals().set(active); // pullers sleep until an input with tickets may have something
        }
        Pull::Give(batch)
    }
}

impl Element for StrideSched {
    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        Some(self.strides.reread(cx, config, "input"))
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        (0..self.inputs.len()).for_each(|input| cx.signals().relay(input));
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        self.want = want;
        for (i, input) in self.inputs.iter_mut().enumerate() {
            input.dry = !cx.signals().may_have(i);
        }
        self.strides.save(&mut self.before);
        self.plan();
        self.go_on(cx)
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        let input = &mut self.inputs[port];
        batch.packets_mut().reverse();
        if let Some(mut earlier) = input.got.take() {
            earlier.drain(|packet| batch.push(packet));
            cx.consume(earlier);
        }
        input.dry = batch.len() < input.planned;
        input.got = Some(batch);
        if input.dry {
            self.strides.restore(&self.before);
            self.plan();
        }
        self.go_on(cx)
    }

    fn held(&self) -> usize {
        self.inputs.iter().map(Input::held).sum()
    }

    fn handlers(&self, h: &mut Handlers) {
        self.strides.handlers(h, |e: &mut StrideSched| &mut e.strides);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    /// Three tickets against one, whatever the burst; then the input that still has packets has everything.
    #[test]
    fn inputs_are_served_in_proportion_to_tickets() {
        let lines = run("s :: StrideSched(1, 3, 0) -> Print(MAXLENGTH 1) -> Discard(BURST 5);
                         InfiniteSource(DATA a, LIMIT 4, BURST 4) -> Queue -> [0] s;
                         InfiniteSource(DATA b, LIMIT 6, BURST 6) -> Queue -> [1] s;
                         Idle -> Queue -> [2] s; RatedSource(LIMIT 4, STOP true) -> Discard;");
        let order: Vec<_> = lines.lines().map(|line| line.rsplit(' ').next().unwrap_or("")).collect();
        let early = order[..8].iter().filter(|byte| **byte == "62").count();
        assert_eq!((order.len(), early), (10, 6), "{order:?}");
    }

    /// What packet by packet gives, whatever is in the queues and whatever the burst.
    #[test]
    fn plans_as_single_packets_do() {
        for lengths in [[9, 2, 14], [1, 1, 8], [0, 16, 3], [5, 0, 0], [30, 30, 30]] {
            let order = |burst: usize| {
                let mut config =
                    format!("s :: StrideSched(3, 1, 7) -> Print(MAXLENGTH 1) -> Discard(BURST {burst});");
                for (input, length) in lengths.into_iter().enumerate() {
                    let byte = ["a", "b", "c"][input];
                    config += &format!(
                        " InfiniteSource(DATA {byte}, LIMIT {length}, BURST 32) -> Queue -> [{input}] s;"
                    );
                }
                let lines = run(&(config + "RatedSource(LIMIT 4, STOP true) -> Discard;"));
                lines.lines().map(|line| line.rsplit(' ').next().unwrap_or("").to_owned()).collect::<Vec<_>>()
            };
            let singly = order(1);
            assert_eq!(singly.len(), lengths.iter().sum::<usize>());
            for burst in [2, 5, 13, 32] {
                assert_eq!(order(burst), singly, "{lengths:?} {burst}");
            }
        }
    }

    #[test]
    fn bad_arguments() {
        assert!(
            errors("Idle -> StrideSched(1, 2) -> Discard").contains("need 1 arguments, one per input port")
        );
        assert!(
            errors("Idle -> StrideSched(-1) -> Discard")
                .contains("argument 0 (number of tickets) must be >= 0")
        );
    }
}
