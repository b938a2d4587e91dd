//! The words of `ip route`: those that it prints (iproute2 6), and those that it takes for the same.

use std::str::{FromStr, SplitAsciiWhitespace};

use super::{Draft, Kernel, Route, Table, rank};
use crate::import::fault::LineError;
use crate::import::list::{Hop, List};

/// A word that `ip route` writes behind a prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Via,
    Device,
    /// Clique's own, where some next hops have an output and some have not.
    Output,
    Weight,
    Encapsulation,
    Translation,
    Dead,
    NextHop,
    /// What `ip -d` says of a next-hop object begins.
    Object,
    /// What follows is about packets that were forwarded.
    Cache,
    Metric,
    Table,
    Vrf,
    Tos,
    Source,
    Preference,
    OwnSource,
    ObjectId,
    Protocol,
    Expires,
    Features,
    /// What does not matter for where packets go: a state, or how `ip -o` marks the end of a line.
    Flag,
    /// The same with a value: how the kernel came by the route, or treats its packets.
    Aside,
    /// The same with a value that may have `lock` before it.
    Lockable,
}

impl Word {
    fn of(word: &str) -> Option<Word> {
        Some(match word {
            "via" => Word::Via,
            "dev" => Word::Device,
            "output" => Word::Output,
            "weight" => Word::Weight,
            "encap" => Word::Encapsulation,
            "as" => Word::Translation,
            "dead" => Word::Dead,
            "nexthop" => Word::NextHop,
            "nh_info" => Word::Object,
            "cache" => Word::Cache,
            "metric" | "preference" | "priority" => Word::Metric,
            "table" => Word::Table,
            "vrf" => Word::Vrf,
            "tos" | "dsfield" => Word::Tos,
            "from" => Word::Source,
            "pref" => Word::Preference,
            "src" => Word::OwnSource,
            "nhid" => Word::ObjectId,
            "proto" | "protocol" => Word::Protocol,
            "expires" => Word::Expires,
            "features" => Word::Features,
            "onlink" | "pervasive" | "linkdown" | "offload" | "offload_failed" | "trap" | "notify"
            | "unresolved" | "rt_offload" | "rt_offload_failed" | "rt_trap" | "\\" => Word::Flag,
            "scope" | "realm" | "realms" | "mark" | "uid" | "error" | "iif" | "users" | "used" | "age"
            | "ipid" | "ts" | "tsage" | "ttl-propogate" | "ttl-propagate" => Word::Aside,
            "mtu" | "window" | "rtt" | "rttvar" | "ssthresh" | "cwnd" | "advmss" | "reordering"
            | "hoplimit" | "initcwnd" | "rto_min" | "initrwnd" | "quickack" | "congctl"
            | "fastopen_no_cookie" => Word::Lockable,
            _ => return None,
        })
    }
}

/// Whether a word follows the prefix in a line of `ip route`.
pub(in crate::import) fn is_attribute(word: &str) -> bool {
    Word::of(word).is_some()
}

/// The part of a route whose words are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum Part {
    /// The route itself.
    Route,
    /// One of several next hops.
    Hop,
    /// What `ip -d` says of the next-hop object.
    Object,
}

/// Words of one line.
struct Sentence<'s, 'w, 'k> {
    words: SplitAsciiWhitespace<'w>,
    part: Part,
    draft: Draft,
    route: &'s mut Route,
    kernel: &'s mut Kernel<'k>,
    list: &'s mut List,
}

impl Kernel<'_> {
    /// Reads the words of a line about a route.
    ///
    /// # Errors
    /// What is wrong, or what cannot be followed.
    pub(in crate::import) fn read(
        &mut self,
        list: &mut List,
        route: &mut Route,
        part: Part,
        words: SplitAsciiWhitespace<'_>,
    ) -> Result<(), LineError> {
        let mut sentence = Sentence { words, part, draft: Draft::default(), route, kernel: self, list };
        while let Some(text) = sentence.words.next() {
            match Word::of(text) {
                Some(Word::Cache) => break,
                Some(Word::NextHop) => sentence.next(Part::Hop)?,
                Some(Word::Object) => sentence.next(Part::Object)?,
                Some(word) => sentence.word(word, text)?,
                // Of objects, only the next hop matters.
                None if sentence.part == Part::Object => {}
                None => return Err(LineError::Word(text.to_owned())),
            }
        }
        sentence.end()
    }
}

impl<'w> Sentence<'_, 'w, '_> {
    fn value(&mut self, word: &str) -> Result<&'w str, LineError> {
        self.words.next().ok_or_else(|| LineError::Value(word.to_owned()))
    }

    fn number<N: FromStr>(&mut self, word: &str) -> Result<N, LineError> {
        self.value(word)?.parse().map_err(|_| LineError::Value(word.to_owned()))
    }

    fn peek(&self) -> Option<&'w str> {
        self.words.clone().next()
    }

    /// Ends what was begun.
    fn end(&mut self) -> Result<(), LineError> {
        let draft = std::mem::take(&mut self.draft);
        let named = draft.hop != Hop::default();
        match self.part {
            Part::Hop if !named => return Err(LineError::Value("nexthop".to_owned())),
            Part::Object if !named => {}
            Part::Object => self.route.shown = Some(draft.hop),
            Part::Route | Part::Hop => self.route.add(draft),
        }
        Ok(())
    }

    fn next(&mut self, part: Part) -> Result<(), LineError> {
        self.end()?;
        self.part = part;
        Ok(())
    }

    /// Reads a word, and what belongs to it.
    fn word(&mut self, word: Word, text: &str) -> Result<(), LineError> {
        match word {
            Word::Via => self.via()?,
            Word::Device => {
                let name = self.value(text)?;
                self.draft.hop.device = Some(self.kernel.device(self.list, name));
            }
            Word::Encapsulation => return Err(LineError::Encapsulation(self.value(text)?.to_owned())),
            _ if self.part == Part::Object => {}
            Word::Output => self.draft.hop.port = Some(self.number(text)?),
            Word::Weight => {
                let weight = Some(self.number(text)?).filter(|&weight| weight > 0);
                self.draft.weight = weight.ok_or_else(|| LineError::Value(text.to_owned()))?;
            }
            Word::Dead => self.draft.dead = true,
            Word::Translation => {
                let to = self.value(text)?;
                let to = if to == "to" { self.value(to)? } else { to };
                return Err(LineError::Translation(to.to_owned()));
            }
            Word::Aside => drop(self.value(text)?),
            Word::Lockable => self.lockable(text)?,
            Word::Features => {
                let is_feature =
                    |word: &str| word == "ecn" || word == "tcp_usec_ts" || word.starts_with("0x");
                while self.peek().is_some_and(is_feature) {
                    self.words.next();
                }
            }
            _ => self.key(word, text)?,
        }
        Ok(())
    }

    /// Reads a word that tells which packets a route is for, and which of several routes counts.
    fn key(&mut self, word: Word, text: &str) -> Result<(), LineError> {
        match word {
            Word::Metric => {
                let metric = self.number(text)?;
                // A path metric that `ip` has no name for is printed by its number.
                if self.peek().is_some_and(|next| next == "lock" || next.parse::<u64>().is_ok()) {
                    return self.lockable(text);
                }
                self.route.metric = metric;
            }
            Word::Table => {
                let name = self.value(text)?;
                self.route.set_table(name, self.kernel.table);
            }
            Word::Vrf => self.route.table = Table::Other(self.value(text)?.to_owned()),
            Word::Tos => {
                let tos = self.value(text)?;
                if !matches!(tos, "0" | "0x0" | "0x00") {
                    return Err(LineError::Tos(tos.to_owned()));
                }
            }
            Word::Source => return Err(LineError::Source(self.value(text)?.to_owned())),
            Word::Preference => {
                // `ip -o` writes the end of the line right behind it.
                self.route.preference = rank(self.value(text)?.trim_end_matches('\\'));
                self.route.v6 = self.route.v6.or(Some(true));
            }
            Word::OwnSource => {
                let source = self.value(text)?;
                self.route.v6 = self.route.v6.or(Some(source.contains(':')));
            }
            Word::ObjectId => self.route.object = Some(self.number(text)?),
            Word::Protocol => self.route.learned |= matches!(self.value(text)?, "ra" | "redirect"),
            Word::Expires => {
                self.value(text)?;
                self.route.learned = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn via(&mut self) -> Result<(), LineError> {
        let mut gateway = self.value("via")?;
        let foreign = matches!(gateway, "inet" | "inet6");
        if matches!(gateway, "mpls" | "bridge" | "link" | "ipx" | "dnet") {
            return Err(LineError::Family(gateway.to_owned()));
        }
        if foreign {
            gateway = self.value("via")?;
        }
        let address = gateway.parse().map_err(|_| LineError::Gateway(gateway.to_owned()))?;
        match self.part {
            // An object is of its gateway's family, whichever routes lead to it.
            Part::Object => self.draft.hop.gateway = Some(address),
            Part::Route | Part::Hop => self.route.set_gateway(&mut self.draft, address, foreign),
        }
        Ok(())
    }

    fn lockable(&mut self, text: &str) -> Result<(), LineError> {
        if self.value(text)? == "lock" {
            self.value(text)?;
        }
        Ok(())
    }
}
