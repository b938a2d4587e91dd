//! A node's part in it.

use super::channels::{Channels, Heard, Refused};
use super::duties::Duties;
use super::message::{Body, Duty, Entry, Part, add_entry};
use super::standby::{Held, Popped, Stage, Standby};
use super::stream::Stream;
use crate::NodeId;
use crate::membership::Key;
use std::collections::{BTreeMap, VecDeque};

/// Between two times that a node says what it does.
const TELL_NS: u64 = 100_000_000;
/// News is told so many times at once, since a message may be lost.
const TIMES: u32 = 4;
/// How long a node waits for others to claim its duty before it does it.
const LISTEN_NS: u64 = 250_000_000;
/// How long a duty that none does any more waits for a dead node's successor before it is claimed.
const RECLAIM_NS: u64 = 1_000_000_000;
/// How much longer each further node waits that could claim it.
const NEXT_NS: u64 = 200_000_000;
/// How long hosts may take to send to the other node once duties have moved.
const FOLLOW_NS: u64 = 1_000_000_000;
/// Between two times at least that a stream begins anew because too much has changed.
const RESTART_NS: u64 = 1_000_000_000;
/// Messages that are sent at once.
const BURST: usize = 64;
/// Records, and changes, that are looked at, and entries that are adopted, at once.
const AT_ONCE: usize = 2_048;

/// Stands for whatever stream there is.
const ANY: u64 = 0;

/// What adds to a stream: a key, and a value unless it is gone.
pub type Tell<'t> = dyn FnMut(&[u8], Option<&[u8]>) + 't;

/// Too much has changed since changes were last taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun;

/// What became of entries that were to be adopted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adoption {
    /// They are in the table now, or were.
    pub taken: u64,
    /// Others have what they need.
    pub contended: u64,
    /// They do not fit, or there is no room.
    pub refused: u64,
}

/// The tables of a node. Some of their entries are confirmed: only those are told as long as the node stays.
pub trait Tables {
    /// Begins to note changes of what is confirmed, or ends it.
    fn watch(&mut self, is_wanted: bool);
    /// Notes changes of all entries from now on, as far as that costs those of confirmed ones nothing.
    fn widen(&mut self);
    /// Tells what has changed in a table: looks at `most` changes. Whether more wait.
    ///
    /// # Errors
    /// It is not known any more.
    fn changes(&mut self, table: usize, most: usize, tell: &mut Tell<'_>) -> Result<bool, Overrun>;
    /// Looks at `most` places of a table from one on, and tells what is there, of what is confirmed or of the rest. Where to go on.
    fn scan(
        &mut self,
        table: usize,
        is_confirmed: bool,
        from: u32,
        most: usize,
        tell: &mut Tell<'_>,
    ) -> Option<u32>;
    /// Takes entries into a table.
    fn adopt(&mut self, table: usize, entries: &[Held]) -> Adoption;
}

/// What a node knows of the cluster just now.
pub struct World<'w> {
    /// Whether this node takes part, or does so until it has handed over.
    pub takes_part: bool,
    /// Whether it drains.
    pub drains: bool,
    /// Whether packets get to a node.
    pub reaches: &'w dyn Fn(NodeId) -> bool,
    /// Whether a node takes part and stays.
    pub stays: &'w dyn Fn(NodeId) -> bool,
}

/// What a node is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which node it is.
    pub me: NodeId,
    /// How many there are.
    pub nodes: NodeId,
    /// The names of its tables.
    pub tables: Vec<String>,
    /// Entries that it holds for others, at most.
    pub limit: usize,
}

/// What there was to count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Entries told to successors, also that they are gone.
    pub sent: u64,
    /// Entries adopted from others.
    pub adopted: u64,
    /// Entries that could not be held or adopted, but for those of the next number.
    pub lost: u64,
    /// Entries that could not be adopted because others have their ports.
    pub contended: u64,
    /// Streams begun.
    pub streams: u64,
}

/// What has to be told before it fits into the stream.
#[derive(Debug, Default)]
struct Backlog {
    parts: VecDeque<Part>,
    entries: Vec<u8>,
    count: u64,
}

impl Backlog {
    fn add(&mut self, table: usize, key: &[u8], value: Option<&[u8]>) {
        let entry = Entry { table: table as u8, key, value };
        self.count += 1;
        if !add_entry(&mut self.entries, entry) {
            self.close();
            add_entry(&mut self.entries, entry);
        }
    }

    fn close(&mut self) {
        if !self.entries.is_empty() {
            self.parts.push_back(Part::Entries(std::mem::take(&mut self.entries)));
        }
    }
}

/// A node's part in it.
#[derive(Debug)]
pub struct Succession {
    settings: Settings,
    channels: Channels,
    duties: Duties,
    /// Others' successors, by their own words, and when they last said something.
    heirs: BTreeMap<NodeId, Option<NodeId>>,
    heard_ns: BTreeMap<NodeId, u64>,
    /// The duties that others do, by their own last words.
    claims: BTreeMap<NodeId, Vec<Duty>>,
    stream: Option<Stream>,
    streams: u64,
    /// When it began, and whether too much has changed since for it to go on.
    began_ns: u64,
    is_behind: bool,
    backlog: Backlog,
    /// The table and the place where the look at everything goes on.
    scan: Option<(usize, u32)>,
    /// Whether what is not confirmed is told, too: since the node drains.
    is_wide: bool,
    /// Whether there are more changes than were looked at.
    has_more: bool,
    /// Whether a successor has everything; which one had it last.
    is_whole: bool,
    heir: Option<NodeId>,
    /// The duties that were handed over, if it has come to that.
    handed: Option<Vec<Duty>>,
    /// Until when what changes here, or at a node whose duties come here, is told and taken in at once.
    follows_until_ns: u64,
    /// Whether there is a node that could be the successor.
    has_next: bool,
    standbys: BTreeMap<NodeId, Standby>,
    since_ns: Option<u64>,
    /// The nodes whose duties none does any more, and since when.
    undone_ns: BTreeMap<NodeId, u64>,
    told_ns: Option<u64>,
    news: u32,
    counts: Counts,
    /// What is to be sent besides.
    answers: Vec<(NodeId, Vec<u8>)>,
}

impl Succession {
    /// `life`: larger than in any earlier life, as the time of day is.
    pub fn new(settings: Settings, life: u64, key: Key) -> Succession {
        Succession {
            channels: Channels::new(settings.me, settings.nodes, life, key),
            settings,
            duties: Duties::default(),
            heirs: BTreeMap::new(),
            heard_ns: BTreeMap::new(),
            claims: BTreeMap::new(),
            stream: None,
            streams: 0,
            began_ns: 0,
            is_behind: false,
            backlog: Backlog::default(),
            scan: None,
            is_wide: false,
            has_more: false,
            is_whole: false,
            heir: None,
            handed: None,
            follows_until_ns: 0,
            has_next: false,
            standbys: BTreeMap::new(),
            since_ns: None,
            undone_ns: BTreeMap::new(),
            told_ns: None,
            news: 0,
            counts: Counts::default(),
            answers: Vec::new(),
        }
    }

    /// Goes on as the same node with tables of another configuration. Whether it can.
    pub fn renew(&mut self, settings: &Settings, key: &Key) -> bool {
        let is_same = (settings.me, settings.nodes) == (self.settings.me, self.settings.nodes)
            && settings.tables == self.settings.tables
            && self.channels.has_key(key);
        if is_same {
            self.settings = settings.clone();
            self.stream = None;
        }
        is_same
    }

    /// Holds no more entries than these for others, from now on.
    pub fn set_limit(&mut self, limit: usize) {
        self.settings.limit = limit;
    }

    /// What there was to count.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Entries that are held for others.
    pub fn held(&self) -> usize {
        self.standbys.values().map(Standby::len).sum()
    }

    /// For whom how many entries are held, and when the node was last heard.
    pub fn holds(&self) -> Vec<(NodeId, usize, u64)> {
        let heard = |node| self.heard_ns.get(node).copied().unwrap_or(0);
        self.standbys.iter().map(|(node, standby)| (*node, standby.len(), heard(node))).collect()
    }

    /// Who does a node's duty, if that is known.
    pub fn holder(&self, of: NodeId) -> Option<NodeId> {
        self.duties.holder(of)
    }

    /// The nodes whose duty this one does.
    pub fn duties(&self) -> Vec<Duty> {
        self.duties.of(self.settings.me)
    }

    /// The successor, once it has everything.
    pub fn successor(&self) -> Option<NodeId> {
        self.stream.as_ref().filter(|_| self.is_whole).map(|stream| stream.to)
    }

    /// Whether a node that drains has handed over everything, or there is no node to hand it to.
    pub fn is_over(&self) -> bool {
        match &self.stream {
            Some(stream) => stream.is_handed_over() && self.duties().is_empty(),
            None => !self.has_next,
        }
    }

    /// Whether more is to be sent than fits into one turn.
    pub fn is_busy(&self) -> bool {
        let is_telling = self.scan.is_some() && !self.is_behind || self.has_more;
        is_telling || !self.backlog.parts.is_empty() || self.is_adopting()
    }

    /// Whether duties move from this node or to it, or have just done so. Hosts send to one node, and then to the other: what begins at
    /// the first has to follow before their next packets, so a turn should come soon.
    pub fn is_moving(&self, now_ns: u64) -> bool {
        now_ns < self.follows_until_ns
    }

    /// Whether duties of this node are to go, or others' to come.
    fn is_handing(&self) -> bool {
        let goes = self.handed.is_some() && !self.duties().is_empty();
        goes || self.standbys.values().any(|standby| standby.handed.is_some())
    }

    fn is_adopting(&self) -> bool {
        self.standbys.values().any(|standby| standby.stage == Stage::Adopted && standby.len() > 0)
    }

    /// The rule: the next node in the order of numbers that takes part and stays.
    fn choose(&self, stays: &dyn Fn(NodeId) -> bool) -> Option<NodeId> {
        let me = self.settings.me;
        self.after(me).find(|&node| node != me && stays(node))
    }

    /// Time passes. What is to be sent, and to whom. To be called often: between two calls lies what a death costs.
    pub fn tick(
        &mut self,
        now_ns: u64,
        world: &World<'_>,
        tables: &mut dyn Tables,
    ) -> Vec<(NodeId, Vec<u8>)> {
        if world.takes_part {
            let since_ns = *self.since_ns.get_or_insert(now_ns);
            self.claim(now_ns, now_ns.saturating_sub(since_ns), world);
            self.find_successor(now_ns, world, tables);
            self.take_over(now_ns, world);
        }
        self.standbys.values_mut().for_each(|standby| standby.sweep(AT_ONCE));
        if self.is_handing() {
            self.follows_until_ns = now_ns + FOLLOW_NS;
        }
        self.adopt(tables);
        self.fill(now_ns, world, tables);
        let mut out = std::mem::take(&mut self.answers);
        if let Some(stream) = &mut self.stream {
            let to = stream.to;
            for body in stream.due(now_ns, BURST) {
                out.push((to, self.channels.seal(to, &body)));
            }
        }
        self.tell(now_ns, world, &mut out);
        out
    }

    /// Says what this node does: to all, now and then, and at once when that has changed.
    fn tell(&mut self, now_ns: u64, world: &World<'_>, out: &mut Vec<(NodeId, Vec<u8>)>) {
        let is_time = self.told_ns.is_none_or(|told| now_ns.saturating_sub(told) >= TELL_NS);
        if !is_time && self.news == 0 {
            return;
        }
        self.news = self.news.saturating_sub(1);
        self.told_ns = Some(now_ns);
        let body = Body::Duties(self.heir, self.duties());
        for node in (0..self.settings.nodes).filter(|&node| node != self.settings.me && (world.reaches)(node))
        {
            out.push((node, self.channels.seal(node, &body)));
        }
    }

    /// A node does its own duty, unless another does. A duty that none does any more, since the node that did it is dead or has forgotten
    /// it, is claimed after a while: by the node itself, or else by the next that stays. That one may have begun anew and know nothing of
    /// the duty, so each further node claims it a little later.
    fn claim(&mut self, now_ns: u64, age_ns: u64, world: &World<'_>) {
        let me = self.settings.me;
        let undone = self.undone(world);
        self.undone_ns.retain(|of, _| undone.contains(of));
        if world.drains {
            return;
        }
        if self.duties.holder(me).is_none() && age_ns >= LISTEN_NS {
            self.take(me);
        }
        let is_majority = !undone.is_empty() && self.is_majority(world);
        for of in undone.into_iter().filter(|&of| of == me || is_majority) {
            let since_ns = *self.undone_ns.entry(of).or_insert(now_ns);
            let before_me = self.after(of).take_while(|&node| node != me).filter(|&node| (world.stays)(node));
            let patience_ns = RECLAIM_NS + before_me.count() as u64 * NEXT_NS;
            if now_ns.saturating_sub(since_ns) >= patience_ns {
                self.take(of);
            }
        }
    }

    fn take(&mut self, of: NodeId) {
        self.duties.take(of, self.settings.me, 1);
        self.news = TIMES;
    }

    /// The nodes whose duties none does any more. A node in a new life does not know which terms there were, so what it claims counts, however
    /// early, where the one that is known to do it does not.
    fn undone(&mut self, world: &World<'_>) -> Vec<NodeId> {
        let does = |(&by, claims): (&NodeId, &Vec<Duty>), of| {
            let term = claims.iter().find(|claim| claim.0 == of).map(|claim| claim.1);
            term.filter(|_| (world.reaches)(by)).map(|term| (term, by))
        };
        let Succession { duties, claims, settings, .. } = self;
        let is_done = |&(of, by): &(NodeId, NodeId)| {
            by == settings.me || claims.get(&by).is_some_and(|said| does((&by, said), of).is_some())
        };
        let mut undone: Vec<NodeId> = duties.all().filter(|held| !is_done(held)).map(|(of, _)| of).collect();
        undone.retain(|&of| {
            let claim = claims.iter().filter_map(|said| does(said, of)).max();
            claim.inspect(|&claim| duties.set(of, claim)).is_none()
        });
        undone
    }

    /// A node and all others, in the order of numbers.
    fn after(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        let nodes = self.settings.nodes;
        (0..nodes).map(move |step| (node + step) % nodes)
    }

    /// Whether packets get to at least half of the cluster.
    fn is_majority(&self, world: &World<'_>) -> bool {
        let Settings { me, nodes, .. } = self.settings;
        let alive = 1 + (0..nodes).filter(|&node| node != me && (world.reaches)(node)).count();
        2 * alive >= usize::from(nodes)
    }

    /// Begins a stream when there is another successor, or another life of it.
    fn find_successor(&mut self, now_ns: u64, world: &World<'_>, tables: &mut dyn Tables) {
        // A node that drains may have handed over already: who has its duties then has to have what changes since, too.
        let kept =
            self.stream.as_ref().map(|stream| stream.to).filter(|&to| world.drains && (world.stays)(to));
        let next = kept.or_else(|| self.choose(world.stays));
        self.has_next = next.is_some();
        let next = next.filter(|&next| self.channels.knows(next));
        // A node that stays after all does not go on telling everything.
        let is_narrow = world.drains || !self.is_wide;
        let goes_on = |stream: &Stream| {
            next == Some(stream.to) && stream.life == self.channels.life_of(stream.to) && is_narrow
        };
        if self.stream.as_ref().map_or(next.is_some(), |stream| !goes_on(stream)) {
            self.begin(next, now_ns, tables);
        }
    }

    fn begin(&mut self, to: Option<NodeId>, now_ns: u64, tables: &mut dyn Tables) {
        tables.watch(false);
        (self.backlog, self.scan, self.is_whole) = (Backlog::default(), None, false);
        (self.began_ns, self.is_behind) = (now_ns, false);
        (self.is_wide, self.has_more) = (false, false);
        self.handed = None;
        self.stream = to.map(|to| {
            tables.watch(true);
            self.streams += 1;
            self.counts.streams += 1;
            Stream::new(to, self.channels.life_of(to), self.streams, now_ns)
        });
        if self.stream.is_some() {
            self.scan = Some((0, 0));
            self.backlog.parts.push_back(Part::Begin(self.settings.tables.clone()));
        }
    }

    /// Puts into the stream what there is to say, as far as there is room.
    fn fill(&mut self, now_ns: u64, world: &World<'_>, tables: &mut dyn Tables) {
        let Some(stream) = &self.stream else { return };
        let (to, room) = (stream.to, stream.room());
        if self.backlog.parts.is_empty() && room > 0 {
            self.is_behind |= self.collect(tables).is_err();
            if self.is_behind {
                // Until it begins again what changes is told as far as it is known: beginning again and again would cost more.
                if now_ns.saturating_sub(self.began_ns) >= RESTART_NS {
                    return self.begin(Some(to), now_ns, tables);
                }
            } else {
                self.look_around(tables, room);
                if world.drains && self.scan.is_none() && !self.is_wide {
                    // What is not confirmed has to move as well.
                    tables.widen();
                    (self.is_wide, self.scan) = (true, Some((0, 0)));
                }
            }
        }
        let duties: Vec<Duty> = self.duties().into_iter().map(|(of, term)| (of, term + 1)).collect();
        let Some(stream) = &mut self.stream else { return };
        while stream.room() > 0
            && let Some(part) = self.backlog.parts.pop_front()
        {
            stream.add(part);
        }
        let has_told =
            self.scan.is_none() && self.backlog.parts.is_empty() && !self.has_more && !self.is_behind;
        let is_all = self.is_wide && has_told && stream.room() > 0;
        // Another node's duties may have come to this one since it handed over its own.
        let is_more = |handed: &Vec<Duty>| duties.iter().any(|duty| !handed.contains(duty));
        if is_all && world.drains && self.handed.as_ref().is_none_or(is_more) {
            stream.add(Part::HandOver(duties.clone()));
            self.handed = Some(duties);
        }
        if stream.is_whole() && !std::mem::replace(&mut self.is_whole, true) {
            (self.heir, self.news) = (Some(to), TIMES);
        }
    }

    /// Takes what has changed, or some of it.
    fn collect(&mut self, tables: &mut dyn Tables) -> Result<(), Overrun> {
        let Succession { backlog, settings, counts, has_more, .. } = self;
        let before = backlog.count;
        *has_more = false;
        for table in 0..settings.tables.len() {
            *has_more |= tables.changes(table, AT_ONCE, &mut |key, value| backlog.add(table, key, value))?;
        }
        backlog.close();
        counts.sent += backlog.count - before;
        Ok(())
    }

    /// Goes on looking at everything, until there is enough to say.
    fn look_around(&mut self, tables: &mut dyn Tables, room: usize) {
        let Succession { backlog, settings, counts, scan, is_wide, .. } = self;
        let before = backlog.count;
        while let Some((table, from)) = *scan
            && backlog.parts.len() < room.min(BURST)
        {
            if table >= settings.tables.len() {
                *scan = None;
                if !*is_wide {
                    backlog.close();
                    backlog.parts.push_back(Part::Whole);
                }
                break;
            }
            let mut tell = |key: &[u8], value: Option<&[u8]>| backlog.add(table, key, value);
            let next = tables.scan(table, !*is_wide, from, AT_ONCE, &mut tell);
            *scan = Some(next.map_or((table + 1, 0), |next| (table, next)));
            if next.is_some() {
                break;
            }
        }
        backlog.close();
        counts.sent += backlog.count - before;
    }

    /// Takes over from those that have handed over, and from those that are dead.
    fn take_over(&mut self, now_ns: u64, world: &World<'_>) {
        let (me, is_majority) = (self.settings.me, self.is_majority(world));
        let Succession { standbys, heirs, heard_ns, .. } = self;
        for (&node, standby) in standbys.iter_mut().filter(|(_, standby)| standby.stage == Stage::Kept) {
            let is_dead = is_majority && !(world.reaches)(node);
            // A former successor that has everything does it better than one that has not.
            let other =
                heirs.get(&node).copied().flatten().filter(|&heir| heir != me && (world.reaches)(heir));
            let silent_ns = now_ns.saturating_sub(heard_ns.get(&node).copied().unwrap_or(0));
            let is_left_to_other = other.is_some() && !standby.is_whole && silent_ns < RECLAIM_NS;
            if standby.handed.is_some() || is_dead && !is_left_to_other {
                standby.begin_adoption();
            }
        }
        let is_done = |node: NodeId, standby: &Standby| {
            let holder = self.duties.holder(node).filter(|&holder| ![me, node].contains(&holder));
            let is_done = holder.is_some_and(|holder| (world.reaches)(holder)) && !(world.reaches)(node);
            standby.stage == Stage::Kept && is_done && holder == self.heirs.get(&node).copied().flatten()
        };
        let done: Vec<_> = self
            .standbys
            .iter()
            .filter(|(node, held)| is_done(**node, held))
            .map(|(node, _)| *node)
            .collect();
        done.into_iter().for_each(|node| drop(self.standbys.remove(&node)));
    }

    /// Moves entries into this node's tables. When all of a node's are there, its duties are done here.
    fn adopt(&mut self, tables: &mut dyn Tables) {
        let (me, mut left) = (self.settings.me, AT_ONCE);
        let adopted = self.standbys.iter_mut().filter(|(_, standby)| standby.stage == Stage::Adopted);
        for (&node, standby) in adopted {
            while left > 0
                && let Some(Popped { table, list, looks }) = standby.pop(left)
            {
                left -= looks;
                let Adoption { taken, contended, refused } = tables.adopt(table.into(), &list);
                self.counts.adopted += taken;
                self.counts.contended += contended;
                self.counts.lost += refused;
            }
            if standby.len() > 0 {
                continue;
            }
            let handed = standby.handed.take();
            let mut duties = handed.unwrap_or_default();
            // What it takes over in another life is none of this node's business.
            if self.channels.life_of(node) == standby.stream.0 {
                duties.extend(self.duties.of(node).into_iter().map(|(of, term)| (of, term + 1)));
            }
            for (of, term) in duties {
                if self.duties.holder(of) != Some(me) {
                    self.duties.take(of, me, term);
                    self.news = TIMES;
                }
            }
        }
    }

    /// Bytes have come that may be from any sender.
    ///
    /// # Errors
    /// Why they are not believed.
    pub fn receive(&mut self, now_ns: u64, bytes: &[u8]) -> Result<(), Refused> {
        let Heard { from, body, is_latest } = match self.channels.open(bytes) {
            Ok(said) => said,
            Err(why) => {
                if let Refused::Past(from) = why
                    && self.answers.len() < BURST
                {
                    let answer = self.channels.answer(from);
                    self.answers.push((from, answer));
                }
                return Err(why);
            }
        };
        self.heard_ns.insert(from, now_ns);
        match body {
            Body::Answer(_) => self.news = self.news.max(1),
            Body::Duties(..) if !is_latest => {}
            Body::Duties(heir, duties) => self.hear(from, heir, &duties),
            Body::Streamed { stream, number, part } => self.hold(from, stream, number, part),
            Body::Received { stream, next } => {
                let Some(own) = self.stream.as_mut().filter(|own| own.to == from) else { return Ok(()) };
                let is_own = stream == own.number || stream == ANY;
                if is_latest && is_own && next == 0 && own.has_begun() {
                    // It holds nothing of this stream any more: another one begins.
                    self.stream = None;
                } else {
                    own.received(stream, next, now_ns);
                }
            }
        }
        Ok(())
    }

    fn hear(&mut self, from: NodeId, heir: Option<NodeId>, duties: &[Duty]) {
        let me = self.settings.me;
        self.claims.insert(from, duties.to_vec());
        if self.duties.hear(from, duties) {
            // Who has lost a duty says so, and who has kept one.
            self.news = self.news.max(1);
        }
        let had = self.heirs.insert(from, heir);
        // Another has everything now. One that has nothing yet may be told of the former one.
        let is_over = had == Some(Some(me)) && heir != Some(me);
        if is_over && self.standbys.get(&from).is_some_and(|standby| standby.stage == Stage::Kept) {
            self.standbys.remove(&from);
        }
        if heir == Some(me) && !self.standbys.contains_key(&from) {
            self.answer(from, Body::Received { stream: ANY, next: 0 });
        }
    }

    fn hold(&mut self, from: NodeId, stream: u64, number: u64, part: Part) {
        let room = self.settings.limit.saturating_sub(self.held());
        let name = (self.channels.life_of(from), stream);
        let is_new = self.standbys.get(&from).is_none_or(|standby| standby.stream != name);
        if is_new && number == 0 {
            match self.standbys.get_mut(&from) {
                Some(kept) if kept.stage == Stage::Kept => kept.begin_anew(name),
                _ => {
                    let old = self.standbys.insert(from, Standby::new(name));
                    // What was being adopted and is not begun again.
                    self.counts.lost += old.map_or(0, |old| old.len()) as u64;
                }
            }
        }
        let Some(standby) = self.standbys.get_mut(&from).filter(|standby| standby.stream == name) else {
            return self.answer(from, Body::Received { stream, next: 0 });
        };
        let lost = standby.lost;
        standby.take(number, part, &self.settings.tables, room);
        self.counts.lost += standby.lost - lost;
        let body = Body::Received { stream, next: standby.next };
        self.answer(from, body);
    }

    /// One answer for all that has come since the last turn.
    fn answer(&mut self, to: NodeId, body: Body) {
        let answer = self.channels.seal(to, &body);
        self.answers.retain(|(other, _)| *other != to);
        self.answers.push((to, answer));
    }

    /// Answers to what has come, to be sent at once.
    pub fn take_answers(&mut self) -> Vec<(NodeId, Vec<u8>)> {
        std::mem::take(&mut self.answers)
    }
}

#[cfg(test)]
mod tests;
