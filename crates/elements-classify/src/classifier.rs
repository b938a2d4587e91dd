//! Classifies packets by their contents.
//!
//! ```click
//! Classifier(PATTERN1, ..., PATTERNN)
//! ```
//!
//! Has one output for each pattern. A packet leaves by the output of the first pattern that matches it, and is dropped
//! if none does.
//!
//! A pattern is a list of clauses, separated by spaces, all of which must hold. A clause is `OFFSET/VALUE` or
//! `OFFSET/VALUE%MASK`: the packet has the bytes VALUE from byte OFFSET on, at least in the bits that are set in
//! MASK. VALUE and MASK are hexadecimal, two digits per byte; the digit `?` in VALUE matches anything. A `!` before a
//! clause negates it. The pattern `-` matches everything.
//!
//! A packet that ends before a clause's last significant byte does not match the bytes.
//!
//! Patterns are compiled into a program that looks at each word of a packet at most a few times. Many patterns that
//! compare the same bytes with different values cost one lookup. The order of patterns affects the result; their
//! number hardly affects the cost.
//!
//! Ports: 1 input, as many outputs as patterns. Processing: push. Workers: replicated.
//!
//! # Handlers
//! - `program` (read): the program, one test per line.
//! - `config` (read, write): the patterns. New ones take effect immediately, or not at all if they contain an error.
//!
//! # Example
//! ```click
//! c :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
//! ```
//! sends ARP requests, ARP replies, IP packets and everything else in an Ethernet frame to four different outputs.
//!
//! # See also
//! Switch

use super::compiled::{Compiled, NOWHERE};
use super::pattern::Pattern;
use super::program::Program;
use packet::{Batch, Packet};
use router::{
    Class, Config, ConfigError, Cx, Decision, Element, Flags, Handlers, Look, PerPacket, Simple, Verdict,
};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Classifier", create).ports("1/-").processing("h/h").doc(router::manual!("classifier.rs"));

struct Classifier {
    compiled: Compiled,
    /// What the handlers print.
    program: Program,
    config: String,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let classifier = Classifier::new(config.text(), config.outputs())?;
    for (output, used) in classifier.program.used(config.outputs()).into_iter().enumerate() {
        if !used {
            config.warn(format!("output {output} matches no packets"));
        }
    }
    Ok(Box::new(PerPacket(classifier)))
}

impl Classifier {
    fn new(text: &str, outputs: usize) -> Result<Classifier, ConfigError> {
        let mut words = lang::conf::split_args(text);
        if words.len() == 1 && words[0].is_empty() && outputs != 1 {
            words.clear();
        }
        if words.len() != outputs {
            return Err(format!("need {outputs} arguments, one per output port").into());
        }
        let (mut patterns, mut errors) = (Vec::new(), Vec::new());
        for (i, word) in words.iter().enumerate() {
            match Pattern::parse(word) {
                Ok(pattern) => patterns.push(pattern),
                Err(error) => errors.push(format!("pattern {i}: {error}")),
            }
        }
        if !errors.is_empty() {
            return Err(ConfigError::from(errors));
        }
        let mut program = Program::new(&patterns);
        program.optimise();
        Ok(Classifier { compiled: Compiled::new(&program), program, config: text.to_owned(), outputs })
    }
}

/// What becomes of a packet for which this output was found.
#[inline(always)]
fn verdict(output: usize) -> Verdict {
    if output < NOWHERE { Verdict::Output(output) } else { Verdict::Drop("no pattern matches") }
}

impl Simple for Classifier {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        verdict(self.compiled.run_on_packet(packet))
    }

    fn process_batch(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let Some(program) = self.compiled.quick() else {
            return cx.scatter(batch, |_, packet| verdict(self.compiled.run(packet.data())));
        };
        match program.common(batch.packets()) {
            Some(output) => cx.emit(output, batch),
            None => cx.scatter(batch, |_, packet| verdict(program.run_on_packet(packet))),
        }
    }

    fn explain(&self, _look: &Look<'_>, packet: &mut Packet) -> Option<Decision> {
        let verdict = verdict(self.compiled.run_on_packet(packet));
        let because = match verdict {
            Verdict::Output(output) => lang::conf::split_args(&self.config).into_iter().nth(output),
            _ => None,
        };
        Some(Decision::new(verdict, because.map_or(String::new(), |pattern| format!("matches '{pattern}'"))))
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("program", |e: &mut Classifier, _| e.program.to_string()).flagged(Flags::CALM);
        h.read("config", |e: &mut Classifier, _| e.config.clone());
        h.write("config", |e: &mut Classifier, _, text| {
            *e = Classifier::new(text, e.outputs).map_err(|error| error.to_string())?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;
    use crate::testing::send;
    use crate::testing::{build, errors, run_and_read};
    use proptest::prelude::*;
    use router::Call;

    /// Packets of a batch part without changing places; those that match nothing are counted.
    #[test]
    fn a_batch_parts() {
        let config = "Inject -> c :: Classifier(0/01, 0/02); c[0] -> Collect(0); c[1] -> Collect(1);";
        let flow = send(config, (0..64u8).map(|i| vec![i % 3, i]));
        let of = |kind| (0..64u8).filter(|i| i % 3 == kind).map(|i| vec![kind, i]).collect::<Vec<_>>();
        assert_eq!((flow.data(0), flow.data(1)), (of(1), of(2)));
        assert_eq!(flow.drops(), [("no pattern matches", 22)]);
    }

    /// Bytes far behind the start are seen, and packets that end before them are not taken for others.
    #[test]
    fn far_bytes() {
        let packets = [(1, 301), (1, 300), (2, 263), (2, 262), (3, 251), (3, 250), (9, 1000)];
        let packets = packets.map(|(byte, len)| vec![byte; len]);
        for first in ["300/01", "250/01"] {
            let patterns = [first, "255/0202020202020202", "250/03", "-"];
            let parsed = patterns.map(|pattern| Pattern::parse(pattern).expect("a pattern"));
            let config = format!(
                "Inject -> c :: Classifier({}); c[0] -> Collect(0); c[1] -> Collect(1);
                 c[2] -> Collect(2); c[3] -> Collect(3);",
                patterns.join(", ")
            );
            let flow = send(&config, packets.clone());
            for (at, pattern) in parsed.iter().enumerate() {
                let goes_there = |data: &&Vec<u8>| parsed.iter().position(|p| p.matches(data)) == Some(at);
                let expected: Vec<_> = packets.iter().filter(goes_there).cloned().collect();
                assert_eq!(flow.data(at), expected, "{pattern:?}");
            }
        }
    }

    fn program(patterns: &str) -> String {
        let outputs = lang::conf::split_args(patterns).len();
        let sinks: String = (0..outputs).map(|i| format!("c[{i}] -> Discard;")).collect();
        let config = format!("InfiniteSource(LIMIT 1, STOP true) -> c :: Classifier({patterns}); {sinks}");
        run_and_read(&config, &["c.program"]).remove(0)
    }

    /// The three outcomes of an ARP frame share one look at the type, and a word is not looked at twice.
    #[test]
    fn program_handler() {
        let text = " 0  12/08060000%ffff0000  yes->step 1  no->step 3
 1  20/00000001%0000ffff  yes->[0]  no->step 2
 2  20/00000002%0000ffff  yes->[1]  no->[3]
 3  12/08000000%ffff0000  yes->[2]  no->[3]
safe length 24
alignment offset 0
";
        assert_eq!(program("12/0806 22/0001, 12/0806 22/0002, 12/0800, -"), text);
        assert_eq!(program("-"), "all->[0]\nsafe length 0\nalignment offset 0\n");
    }

    /// Bytes of one word become one test, whatever the order in which they are given.
    #[test]
    fn one_word_one_test() {
        let text = program("-, 0/00");
        assert!(text.starts_with("all->[0]\n"), "{text}");
        let text = program("8/11 13/00 12/08, -");
        assert!(text.contains("12/08000000%ffff0000"), "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
    }

    #[test]
    fn packets_go_where_patterns_say() {
        let config =
            "InfiniteSource(DATA \\<0102>, LIMIT 3, STOP true) -> c :: Classifier(0/02, !4/00 1/02, -);
                      c[0] -> a :: Discard; c[1] -> b :: Discard; c[2] -> d :: Discard;";
        assert_eq!(run_and_read(config, &["a.count", "b.count", "d.count"]), ["0", "3", "0"]);
        let config = "InfiniteSource(DATA \\<0102>, LIMIT 3, STOP true) -> c :: Classifier(0/02) -> Discard;";
        assert_eq!(run_and_read(config, &["c.drop_reasons"]), ["3\tno pattern matches\n"]);
    }

    /// New patterns replace the old ones, unless there is a mistake in them.
    #[test]
    fn new_patterns() {
        let config = "Idle -> c :: Classifier(0/01, -); c[0] -> Discard; c[1] -> Discard;";
        let mut router = build(config, 1, 32).unwrap();
        let mut call = |call| router.call(call);
        call(Call::write("c.config", "4/0203, -")).unwrap();
        assert_eq!(call(Call::read("c.config", "")).unwrap(), "4/0203, -");
        assert!(call(Call::write("c.config", "4/02")).unwrap_err().message.contains("need 2 arguments"));
        assert!(call(Call::write("c.config", "4, -")).unwrap_err().message.contains("pattern 0"));
        assert!(call(Call::read("c.program", "")).unwrap().starts_with(" 0   4/02030000%ffff0000  yes->[0]"));
    }

    #[test]
    fn bad_patterns() {
        let text = errors(
            "InfiniteSource -> c :: Classifier(12/0, x/00, -); c[0] -> Discard; c[1] -> Discard; c[2] -> Discard;",
        );
        assert!(text.contains("pattern 0: value has less than 2 hex digits"), "{text}");
        assert!(text.contains("pattern 1: expected a digit"), "{text}");
        let text = errors("InfiniteSource -> Classifier(-, -) -> Discard;");
        assert!(text.contains("need 1 arguments, one per output port"), "{text}");
    }

    /// Packets that are alike but for a byte, or the length, of a few: batches of 32 mostly differ in one packet at most.
    fn packets() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let byte = || prop::sample::select(vec![0x00u8, 0x01, 0x10, 0x11]);
        let change = prop::option::weighted(0.03, (0..6usize, byte(), 4..7usize));
        (prop::collection::vec(byte(), 6), prop::collection::vec(change, 1..80)).prop_map(
            |(bytes, changes)| {
                let other = |change: Option<(usize, u8, usize)>| {
                    let (mut bytes, (at, byte, len)) = (bytes.clone(), change.unwrap_or((0, bytes[0], 6)));
                    bytes[at] = byte;
                    bytes[..len].to_vec()
                };
                changes.into_iter().map(other).collect()
            },
        )
    }

    fn clause() -> impl Strategy<Value = String> {
        let value = prop::sample::select(vec!["00", "01", "10", "?1", "0?", "0001", "10%f0", "1011%f00f"]);
        (any::<bool>(), 0..6usize, value)
            .prop_map(|(not, at, value)| format!("{}{at}/{value}", if not { "!" } else { "" }))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Batches whose packets are alike, or all but one, leave by the outputs of the first patterns that match.
        #[test]
        fn batches_that_are_alike(
            packets in packets(),
            patterns in prop::collection::vec(prop::collection::vec(clause(), 1..3), 1..5),
        ) {
            let mut patterns: Vec<String> = patterns.into_iter().map(|clauses| clauses.join(" ")).collect();
            patterns.push("-".to_owned());
            let parsed: Vec<_> = patterns.iter().map(|pattern| Pattern::parse(pattern).expect("a pattern")).collect();
            let sinks: String = (0..patterns.len()).map(|i| format!("c[{i}] -> Collect({i});")).collect();
            let flow = send(&format!("Inject -> c :: Classifier({}); {sinks}", patterns.join(", ")), packets.clone());
            for at in 0..patterns.len() {
                let goes_there = |data: &&Vec<u8>| parsed.iter().position(|pattern| pattern.matches(data)) == Some(at);
                let expected: Vec<_> = packets.iter().filter(goes_there).cloned().collect();
                prop_assert_eq!(flow.data(at), expected, "{:?}", patterns);
            }
        }
    }
}
