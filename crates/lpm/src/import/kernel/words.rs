//! The words of `ip route`: those that it prints (iproute2 6), and those that it takes for the same.

use std::str::SplitAsciiWhitespace;

use super::{Draft, Kernel, Route, Table, rank};
use crate::import::fault::LineError;
use crate::import::list::{Hop, List};

/// How many words follow one that does not matter for where packets go.
#[derive(Clone, Copy)]
enum Follow {
    /// None.
    Nothing,
    /// A value.
    Value,
    /// A value, perhaps with `lock` before it.
    Lockable,
}

/// The follow-up of a word that says how the kernel came by the route, how it treats its packets, or in what state it is.
fn aside(word: &str) -> Option<Follow> {
    Some(match word {
        "onlink" | "pervasive" | "linkdown" | "offload" | "offload_failed" | "trap" | "notify"
        | "unresolved" | "rt_offload" | "rt_offload_failed" | "rt_trap" => Follow::Nothing,
        "scope" | "realm" | "realms" | "mark" | "uid" | "error" | "iif" | "users" | "used" | "age"
        | "ipid" | "ts" | "tsage" | "ttl-propogate" | "ttl-propagate" => Follow::Value,
        "mtu" | "window" | "rtt" | "rttvar" | "ssthresh" | "cwnd" | "advmss" | "reordering" | "hoplimit"
        | "initcwnd" | "rto_min" | "initrwnd" | "quickack" | "congctl" | "fastopen_no_cookie" => {
            Follow::Lockable
        }
        _ => return None,
    })
}

/// Whether a word follows the prefix in a line of `ip route`.
pub(in crate::import) fn is_attribute(word: &str) -> bool {
    const OTHERS: &[&str] = &[
        "via",
        "dev",
        "output",
        "weight",
        "encap",
        "nexthop",
        "nh_info",
        "dead",
        "cache",
        "metric",
        "preference",
        "priority",
        "table",
        "vrf",
        "tos",
        "dsfield",
        "from",
        "as",
        "pref",
        "src",
        "nhid",
        "proto",
        "protocol",
        "expires",
        "features",
        "\\",
    ];
    aside(word).is_some() || OTHERS.contains(&word)
}

/// Whether a word may follow `nexthop`.
pub(in crate::import) fn leads(word: &str) -> bool {
    matches!(word, "via" | "dev" | "output" | "weight" | "encap" | "as" | "realm" | "realms")
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
        while let Some(word) = sentence.words.next() {
            match word {
                // What follows is about packets that were forwarded.
                "cache" => break,
                "nexthop" => sentence.next(Part::Hop)?,
                "nh_info" => sentence.next(Part::Object)?,
                // `ip -o` prints it where a line ends.
                "\\" => {}
                _ => sentence.word(word)?,
            }
        }
        sentence.end()
    }
}

impl<'w> Sentence<'_, 'w, '_> {
    fn value(&mut self, word: &'static str) -> Result<&'w str, LineError> {
        self.words.next().ok_or(LineError::Value(word))
    }

    fn number(&mut self, word: &'static str) -> Result<u64, LineError> {
        self.value(word)?.parse().map_err(|_| LineError::Value(word))
    }

    fn peek(&self) -> Option<&'w str> {
        self.words.clone().next()
    }

    /// Ends what was begun.
    fn end(&mut self) -> Result<(), LineError> {
        let draft = std::mem::take(&mut self.draft);
        let named = draft.hop != Hop::default();
        match self.part {
            Part::Hop if !named => return Err(LineError::Value("nexthop")),
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

    /// Reads a word of a next hop, or of the route.
    fn word(&mut self, word: &str) -> Result<(), LineError> {
        match word {
            "via" => self.via()?,
            "dev" => {
                let name = self.value("dev")?;
                self.draft.hop.device = Some(self.kernel.device(self.list, name));
            }
            "encap" => return Err(LineError::Encapsulation(self.value("encap")?.to_owned())),
            _ if self.part == Part::Object => {}
            // Clique's own, where some next hops have an output and some have not.
            "output" => {
                let port = self.number("output")?;
                self.draft.hop.port = Some(u32::try_from(port).map_err(|_| LineError::Value("output"))?);
            }
            "weight" => {
                let weight = u32::try_from(self.number("weight")?).ok().filter(|&weight| weight > 0);
                self.draft.weight = weight.ok_or(LineError::Value("weight"))?;
            }
            "dead" => self.draft.dead = true,
            "as" => {
                let to = self.value("as")?;
                let to = if to == "to" { self.value("as")? } else { to };
                return Err(LineError::Translation(to.to_owned()));
            }
            _ => match aside(word) {
                Some(Follow::Nothing) => {}
                Some(Follow::Value) => self.words.next().map(drop).ok_or(LineError::Value("a word"))?,
                Some(Follow::Lockable) => self.lockable()?,
                None => self.key(word)?,
            },
        }
        Ok(())
    }

    /// Reads a word that tells which packets a route is for.
    fn key(&mut self, word: &str) -> Result<(), LineError> {
        match word {
            "metric" | "preference" | "priority" => {
                let metric = self.number("metric")?;
                // A path metric that `ip` has no name for is printed by its number.
                if self.peek().is_some_and(|next| next == "lock" || next.parse::<u64>().is_ok()) {
                    return self.lockable();
                }
                self.route.metric = metric;
            }
            "table" => {
                let name = self.value("table")?;
                self.route.set_table(name, self.kernel.table);
            }
            "vrf" => self.route.table = Table::Other(self.value("vrf")?.to_owned()),
            "tos" | "dsfield" => {
                let tos = self.value("tos")?;
                if !matches!(tos, "0" | "0x0" | "0x00") {
                    return Err(LineError::Tos(tos.to_owned()));
                }
            }
            "from" => return Err(LineError::Source(self.value("from")?.to_owned())),
            "pref" => {
                self.route.preference = rank(self.value("pref")?);
                self.route.v6 = self.route.v6.or(Some(true));
            }
            "src" => {
                let source = self.value("src")?;
                self.route.v6 = self.route.v6.or(Some(source.contains(':')));
            }
            "nhid" => self.route.object = Some(self.number("nhid")?),
            "proto" | "protocol" => self.route.learned |= matches!(self.value("proto")?, "ra" | "redirect"),
            "expires" => {
                self.value("expires")?;
                self.route.learned = true;
            }
            "features" => {
                let is_feature =
                    |word: &str| word == "ecn" || word == "tcp_usec_ts" || word.starts_with("0x");
                while self.peek().is_some_and(is_feature) {
                    self.words.next();
                }
            }
            _ => return Err(LineError::Word(word.to_owned())),
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

    fn lockable(&mut self) -> Result<(), LineError> {
        let value = self.value("a metric")?;
        if value == "lock" {
            self.value("lock")?;
        }
        Ok(())
    }
}
