//! The new flows of a batch: what they become is foreseen for all of them, then they are added together.
//!
//! A new flow costs memory above all: the places in the index where its keys belong are in no cache, nor are those that show whether what it would
//! become is another flow's. So these are asked for for all packets of the batch before the first is looked at. And what a worker needs to add flows, its
//! lane, is locked once.
//!
//! Flows become what they would become one by one: chance's numbers are used in the order in which they were drawn.

use super::crowds::Crowd;
use super::flow_set::{Adding, Entered, FlowMatch, FlowSet};
use super::index::Home;
use super::input::Outputs;
use super::nat::{Nat, Wanted};
use super::pattern::Pattern;
use super::rewriter::Chance;
use super::search::TRIES;
use elements_shared::flow_id::{FlowId, Key};
use packet::BATCH_MAX;
use rcu::Turn;
use router::Cx;
use std::ops::RangeInclusive;

/// How often the lines of the next number are asked for where a number is another flow's.
const ROUNDS: usize = 3;
/// What stands for "no entry": there never are so many.
pub(super) const NONE: u32 = u32::MAX;

/// What a flow's identifier may become, and the hash of what replies are found by then, with where the search for that begins.
#[derive(Clone, Copy)]
pub(super) struct Draft<'t> {
    id: FlowId,
    hash: u64,
    home: Home<'t>,
    /// If chance said so: its number, and how many from there on are others'.
    drawn: Option<(u32, u32)>,
}

/// The flow of a packet that seemed to begin one, and whether it does.
pub(super) struct Newcomer<'t> {
    pub(super) found: FlowMatch<'t>,
    pub(super) is_first: bool,
}

/// Those of some numbers for which `is` holds, at the beginning.
fn keep(numbers: &mut [usize], mut is: impl FnMut(usize) -> bool) -> &mut [usize] {
    let mut kept = 0;
    for look in 0..numbers.len() {
        numbers[kept] = numbers[look];
        kept += usize::from(is(numbers[look]));
    }
    &mut numbers[..kept]
}

/// What the new flows of an input are made from.
pub(super) struct Newcomers<'t> {
    nat: &'t Nat,
    set: &'t FlowSet,
    turn: Turn<'t>,
    pattern: &'t Pattern,
    outputs: Outputs,
    /// The numbers that chance chooses from, if it does.
    part: Option<RangeInclusive<u32>>,
    /// Whether the rewriter can follow whatever the pattern makes of a flow.
    is_possible: bool,
}

impl<'t> Newcomers<'t> {
    pub(super) fn new(
        nat: &'t Nat,
        set: &'t FlowSet,
        turn: Turn<'t>,
        (pattern, outputs): (&'t Pattern, Outputs),
        worker: usize,
    ) -> Newcomers<'t> {
        let (part, is_possible) = (pattern.part(nat.share(worker)), nat.can_make_any(outputs));
        Newcomers { nat, set, turn, pattern, outputs, part, is_possible }
    }

    /// The table.
    pub(super) fn set(&self) -> &'t FlowSet {
        self.set
    }

    /// Foresees what the flows of some keys become, and asks for the lines that show whether that is free: first for those of
    /// their own ports, then, for who does not get its own, of what chance says.
    pub(super) fn foresee(
        &self,
        keys: &[Key],
        drafts: &mut [Option<Draft<'t>>; BATCH_MAX],
        chance: &mut Chance,
        cx: &mut Cx<'_>,
    ) {
        for (key, draft) in keys.iter().zip(&mut *drafts) {
            *draft = self.pattern.first(key.id()).map(|id| self.draft(*key, id, None));
        }
        let Some(part) = &self.part else { return };
        let mut guesses = [NONE; BATCH_MAX];
        (0..keys.len()).for_each(|at| guesses[at] = self.guess(drafts[at]));
        let (mut taken, mut drawn) = ([0; BATCH_MAX], 0);
        for (at, &key) in keys.iter().enumerate() {
            if drafts[at].is_none_or(|draft| self.is_taken(key, draft, guesses[at])) {
                let number = chance.foresee(drawn, part.end() - part.start(), cx);
                drafts[at] = self.numbered(key, number, 0);
                taken[drawn] = at;
                drawn += 1;
            }
        }
        self.skip_taken(keys, drafts, &mut guesses, &mut taken[..drawn]);
    }

    /// Where the numbers that were drawn are others', goes on with the next ones.
    fn skip_taken(
        &self,
        keys: &[Key],
        drafts: &mut [Option<Draft<'t>>; BATCH_MAX],
        guesses: &mut [u32; BATCH_MAX],
        mut taken: &mut [usize],
    ) {
        for _ in 0..ROUNDS {
            // Those that look free are done. Of the others the records are needed that their keys are compared with.
            taken = keep(taken, |at| {
                guesses[at] = self.guess(drafts[at]);
                guesses[at] != NONE
            });
            if taken.is_empty() {
                return;
            }
            taken = keep(taken, |at| {
                let draft = drafts[at].filter(|draft| self.is_taken(keys[at], *draft, guesses[at]));
                let next = draft.and_then(|draft| self.next(keys[at], draft));
                drafts[at] = next.or(drafts[at]);
                next.is_some()
            });
        }
    }

    /// The entry that probably has become this, whose record is asked for.
    #[inline]
    fn guess(&self, draft: Option<Draft<'t>>) -> u32 {
        let guess = draft.map_or(NONE, |draft| draft.home.guess(draft.hash));
        if let Some(flow) = self.set.flow(guess) {
            packet::prefetch(flow);
        }
        guess
    }

    #[inline(always)] // so that it is made where it stays
    fn draft(&self, key: Key, id: FlowId, drawn: Option<(u32, u32)>) -> Draft<'t> {
        let hash = self.set.hash(self.nat.reply_key(key.map(), id));
        let home = self.set.index().home(self.turn, hash);
        home.prefetch();
        Draft { id, hash, home, drawn }
    }

    /// What a flow becomes by a number that chance says, if the first `skipped` ones from there on are others'. `None` behind the last one.
    #[inline(always)] // as above
    fn numbered(&self, key: Key, number: u32, skipped: u32) -> Option<Draft<'t>> {
        let part = self.part.as_ref()?;
        let last = part.end() - part.start();
        let mut at = part.start() + number.checked_add(skipped).filter(|&number| number <= last)?;
        if let Some(crowd) = self.crowd(key) {
            at = crowd.next(at, &mut 0).filter(|at| at <= part.end())?;
        }
        let id = self.pattern.numbered(key.id(), at);
        Some(self.draft(key, id, Some((number, at - part.start() - number))))
    }

    /// What is known of the range that a key's flow takes from, if little is left of that.
    #[inline]
    fn crowd(&self, key: Key) -> Option<&'t Crowd> {
        if !self.set.crowds.has_any() {
            return None;
        }
        self.set.crowd(self.turn, key.map(), self.nat.domain(self.pattern, key)?)
    }

    /// Notes that a number is another flow's, as was seen with the lane in hand.
    #[cold]
    fn note_taken(&self, key: Key, draft: Draft<'t>) {
        if let (Some(crowd), Some(part), Some((number, skipped))) = (self.crowd(key), &self.part, draft.drawn)
        {
            crowd.note(part.start() + number + skipped);
        }
    }

    /// What it becomes if that is another one's.
    fn next(&self, key: Key, draft: Draft<'t>) -> Option<Draft<'t>> {
        let (number, skipped) = draft.drawn?;
        self.numbered(key, number, skipped + 1)
    }

    /// Whether another flow has become this: probably the one with this entry.
    #[inline]
    fn is_taken(&self, key: Key, draft: Draft<'t>, guess: u32) -> bool {
        let reply = self.nat.reply_key(key.map(), draft.id);
        let is_plain = guess == NONE && !draft.home.was_passed();
        !is_plain
            && (self.set.check(guess, reply).is_some()
                || self.set.find_hashed(self.turn, reply, draft.hash).is_some())
    }

    /// The right to add them to a worker's lane.
    pub(super) fn begin(&self, worker: usize) -> Adding<'t> {
        self.set.adding(self.turn, worker)
    }

    /// Adds a flow as it was foreseen, or finds that it is known. `None`, and nothing is used up, if more than that has to be done.
    #[inline]
    pub(super) fn add(
        &self,
        adding: &mut Adding<'t>,
        (wanted, draft): (&Wanted, &Option<Draft<'t>>),
        reply_anno: u8,
        chance: &mut Chance,
        cx: &mut Cx<'_>,
        now_ms: u64,
    ) -> Option<Newcomer<'t>> {
        let mut draft = (*draft)?;
        if draft.drawn.is_none() {
            match self.enter(adding, wanted, &draft, reply_anno, now_ms)? {
                Entered::Made(found) => return Some(Newcomer { found, is_first: true }),
                Entered::Known(found) => return Some(Newcomer { found, is_first: false }),
                Entered::Refused => return None,
                Entered::Taken => {}
            }
        }
        let part = self.part.as_ref()?;
        let number = chance.first(part.end() - part.start(), cx)?;
        if draft.drawn.is_none_or(|drawn| drawn.0 != number) {
            draft = self.numbered(wanted.key, number, 0)?;
        }
        for _ in 0..TRIES {
            match self.enter(adding, wanted, &draft, reply_anno, now_ms)? {
                Entered::Made(found) => {
                    chance.use_first();
                    return Some(Newcomer { found, is_first: true });
                }
                Entered::Known(found) => return Some(Newcomer { found, is_first: false }),
                Entered::Refused => return None,
                Entered::Taken => {
                    self.note_taken(wanted.key, draft);
                    draft = self.next(wanted.key, draft)?;
                }
            }
        }
        None
    }

    #[inline]
    fn enter(
        &self,
        adding: &mut Adding<'t>,
        wanted: &Wanted,
        draft: &Draft<'t>,
        reply_anno: u8,
        now_ms: u64,
    ) -> Option<Entered<'t>> {
        let mut new = match self.is_possible {
            true => self.nat.new_flow(wanted, self.nat.completed(draft.id), self.outputs),
            false => self.nat.describe(*wanted, draft.id, self.outputs)?,
        };
        new.reply_anno = reply_anno;
        adding.enter(&new, [wanted.hash, draft.hash], self.pattern.varies(), now_ms)
    }
}
