//! Words that are looked for in TCP streams: what WordMatcher does.

use super::editing::{Editing, Editor, Http, Next, Outcome, Ready, Watch};
use super::held::{Edits, NoRoom};
use super::words::{WordMatch, Words};
use packet::{Packet, Pool};
use router::{Config, ConfigError, Element, Handlers};

/// What is said about a word in MODE ALERT.
const ALERT: &str = "Attack found !";

/// What is done about a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Alert,
    Close,
    Mask,
    Replace,
    Remove,
    Full,
}

impl Mode {
    /// Whether streams change.
    fn changes(self) -> bool {
        !matches!(self, Mode::Alert | Mode::Close)
    }

    /// Whether they get another length.
    fn resizes(self) -> bool {
        matches!(self, Mode::Remove | Mode::Full)
    }
}

/// What to look for, and what to do.
pub(super) struct Rules {
    pub(super) words: Words,
    pub(super) mode: Mode,
    /// Whether all that is found at once counts, or only the first occurrence of each word.
    pub(super) all: bool,
    pub(super) quiet: bool,
    pub(super) message: Vec<u8>,
    /// How long packets are held when nothing comes; 0 for ever.
    pub(super) timeout_ns: i64,
}

/// What elements share that may give the content of streams another length, for those that want to know.
pub(super) struct Resizes;

impl Rules {
    /// Looks through a text, of which there is no more if this is the end: where the rest begins that is not decided,
    /// and how many words count.
    fn scan(&self, text: &[u8], is_end: bool, edits: &mut Edits, seen: &mut [bool]) -> (usize, u64) {
        edits.clear();
        seen.fill(false);
        let mut count = 0;
        let open = self.words.scan(text, is_end, |WordMatch { start, end, word }| {
            if std::mem::replace(&mut seen[word], true) && !self.all {
                return;
            }
            count += 1;
            let place = start..end;
            match self.mode {
                Mode::Alert | Mode::Close => {}
                Mode::Mask => edits.replace(place, std::iter::repeat_n(b'*', end - start)),
                Mode::Replace => edits.replace(place, self.message.iter().copied().cycle().take(end - start)),
                Mode::Remove => edits.replace(place, []),
                Mode::Full => edits.replace(place, self.message.iter().copied()),
            }
        });
        (open, count)
    }
}

/// What looks for words.
pub(super) struct WordFilter {
    rules: Rules,
    found: u64,
    edits: Edits,
    seen: Vec<bool>,
    scratch: Vec<u8>,
}

/// The element that keeps to the rules.
pub(super) fn create(config: &mut Config<'_>, rules: Rules) -> Result<Box<dyn Element>, ConfigError> {
    if rules.mode.resizes() {
        config.shared(|| Ok(Resizes))?;
    }
    Ok(Box::new(Editing::new(WordFilter::new(rules))))
}

impl WordFilter {
    fn new(rules: Rules) -> WordFilter {
        let seen = vec![false; rules.words.count()];
        WordFilter { rules, found: 0, edits: Edits::default(), seen, scratch: Vec::new() }
    }

    /// Looks through a text: where the rest begins that is not decided, and whether the connection is to be closed.
    fn scan(&mut self, text: &[u8], is_end: bool, ready: &mut Ready) -> (usize, bool) {
        let (open, count) = self.rules.scan(text, is_end, &mut self.edits, &mut self.seen);
        self.found += count;
        if self.rules.mode == Mode::Alert && !self.rules.quiet && count > 0 {
            ready.said = Some((ALERT, count));
        }
        (open, count > 0 && self.rules.mode == Mode::Close)
    }

    /// Looks through a packet that goes on as it is.
    fn watch(&mut self, watch: &mut Watch<()>, next: Next, is_end: bool, ready: &mut Ready) -> Outcome {
        let is_first = watch.held.text().is_empty();
        if !is_first {
            watch.held.note(next.text());
        }
        let text = if is_first { next.text() } else { watch.held.text() };
        let (open, closes) = self.scan(text, is_end, ready);
        if is_first {
            watch.held.note(&next.text()[open..]);
        } else {
            watch.held.forget(open);
        }
        if closes { Outcome::Closes(next.packet) } else { Outcome::Leaves(next.packet) }
    }

    /// Looks through a packet that may change, and those that are held before it.
    fn change(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<()>,
        next: Next,
        is_end: bool,
        ready: &mut Ready,
    ) -> Outcome {
        if !watch.held.is_empty() {
            watch.held.push(next.packet, next.data);
            return self.settle(pool, watch, is_end, ready);
        }
        let (open, _) = self.rules.scan(next.text(), is_end, &mut self.edits, &mut self.seen);
        if open == next.data && self.edits.is_empty() {
            return Outcome::Leaves(next.packet);
        }
        watch.held.push(next.packet, next.data);
        self.settle(pool, watch, is_end, ready)
    }

    /// Changes what is held, and readies packets of which all is decided.
    fn settle(&mut self, pool: &mut Pool, watch: &mut Watch<()>, is_end: bool, ready: &mut Ready) -> Outcome {
        let (open, _) = self.scan(watch.held.text(), is_end, ready);
        let leave = |_: &mut _, packet: Packet| ready.on.push(packet);
        match watch.held.settle(pool, &self.edits, open, &mut self.scratch, leave) {
            Ok(()) => Outcome::Held,
            Err(NoRoom(packet)) => Outcome::Closes(packet),
        }
    }
}

impl Editor for WordFilter {
    type State = ();

    fn timeout_ns(&self) -> i64 {
        self.rules.timeout_ns
    }

    fn next(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<()>,
        http: Http<'_>,
        next: Next,
        ready: &mut Ready,
    ) -> Outcome {
        let kind = http.marks.of(next.segment.start);
        if kind.is_content() {
            let is_end = next.is_end || kind == super::messages::Kind::Last;
            return if self.rules.mode.changes() {
                self.change(pool, watch, next, is_end, ready)
            } else {
                self.watch(watch, next, is_end, ready)
            };
        }
        // Chunks of content follow each other; what is in between goes along.
        if !watch.held.is_empty() {
            watch.held.push(next.packet, 0);
            return self.settle(pool, watch, kind.is_apart() || next.is_end, ready);
        }
        if kind.is_apart() {
            watch.held.clear(|_| ());
        }
        Outcome::Leaves(next.packet)
    }

    fn expire(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<()>,
        _http: Http<'_>,
        ready: &mut Ready,
    ) -> Outcome {
        self.settle(pool, watch, true, ready)
    }

    fn handlers(h: &mut Handlers) {
        h.read("found", |e: &mut Editing<WordFilter>, _| e.editor.found);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::editing::tests::{Chain, station};
    use super::super::stream::tests::Model;
    use super::super::words::tests::naive;
    use super::*;

    /// The editor for some words.
    pub(in super::super) fn filter(words: &Words, mode: Mode) -> WordFilter {
        let (words, message) = (words.clone(), b"<no>".to_vec());
        WordFilter::new(Rules { words, mode, all: true, quiet: true, message, timeout_ns: 0 })
    }

    /// What becomes of a whole text.
    pub(in super::super) fn changed(words: &Words, mode: Mode, text: &[u8]) -> Vec<u8> {
        let (mut out, mut at) = (Vec::new(), 0);
        for found in naive(words, text) {
            out.extend(&text[at..found.start]);
            let len = found.end - found.start;
            match mode {
                Mode::Alert | Mode::Close => out.extend(&text[found.start..found.end]),
                Mode::Mask => out.extend(vec![b'*'; len]),
                Mode::Replace => out.extend(b"<no><no>".iter().take(len)),
                Mode::Remove => {}
                Mode::Full => out.extend(b"<no>"),
            }
            at = found.end;
        }
        out.extend(&text[at..]);
        out
    }

    fn random(rng: &mut fastrand::Rng) -> (Words, Vec<u8>) {
        let letters = |rng: &mut fastrand::Rng, most| {
            let len = rng.usize(1..=most);
            (0..len).map(|_| b"abc"[rng.usize(..3)]).collect()
        };
        let words = (0..rng.usize(1..5)).map(|_| letters(rng, 6)).collect();
        (Words::new(words).unwrap(), letters(rng, 2000))
    }

    const MODES: [Mode; 5] = [Mode::Alert, Mode::Mask, Mode::Replace, Mode::Remove, Mode::Full];

    /// However a stream is cut, lost, doubled and reordered on the way, the receiver gets what the words make of the whole.
    #[test]
    fn as_a_whole() {
        for seed in 0..250 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let ((words, sent), mode) = (random(&mut rng), MODES[seed as usize % MODES.len()]);
            let expected = changed(&words, mode, &sent);
            let editor = filter(&words, mode);
            let mut model = Model::new(rng, sent, 60_000, |left| Chain::new(vec![station(editor, left)]));
            model.run(false);
            assert_eq!(model.got, expected, "seed {seed} {mode:?}");
        }
    }

    #[test]
    fn two_filters_in_a_row_match_the_model() {
        for seed in 0..100 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let ((first, sent), (second, _)) = (random(&mut rng), random(&mut rng));
            let modes = [MODES[rng.usize(..5)], MODES[rng.usize(..5)]];
            let expected = changed(&second, modes[1], &changed(&first, modes[0], &sent));
            let stations = |left| {
                vec![station(filter(&first, modes[0]), left), station(filter(&second, modes[1]), left)]
            };
            let mut model = Model::new(rng, sent, 200_000, |left| Chain::new(stations(left)));
            model.run(false);
            assert_eq!(model.got, expected, "seed {seed} {modes:?}");
        }
    }

    /// Where packets do not wait for ever, nothing is lost all the same.
    #[test]
    fn with_pauses() {
        for seed in 0..100 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (words, sent) = random(&mut rng);
            let (mut editor, len) = (filter(&words, Mode::Mask), sent.len());
            editor.rules.timeout_ns = 1;
            let mut model =
                Model::new(rng, sent.clone(), 4000, |left| Chain::new(vec![station(editor, left)]));
            model.run(true);
            assert_eq!(model.got.len(), len);
            assert!(model.got.iter().zip(&sent).all(|(got, sent)| got == sent || *got == b'*'));
        }
    }
}
