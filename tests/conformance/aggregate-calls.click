// A call comes before the aggregate that is one too many, and behind the packet that completes a count, which goes on only then.
FromIPSummaryDump(DATA "!data aggregate\n1\n2\n2\n3\n4\n3\n", STOP true)
  -> c :: AggregateCounter(AGGREGATE_CALL 2 s.run, COUNT_CALL 3 t.run) -> d :: Counter -> Discard;
s :: Script(TYPE PASSIVE, print $(c.nagg) $(c.count), write c.clear);
t :: Script(TYPE PASSIVE, print $(c.nagg) $(c.count) $(d.count));
//= 2 3 2
//= 2 3
//? c.count
//= 3
//? d.count
//= 6
//! then
FromIPSummaryDump(DATA "!data aggregate\n1\n2\n2\n3\n2\n", STOP false)
  -> Queue -> e :: AggregateCounter(AGGREGATE_CALL 2 u.run) -> Unqueue -> f :: Counter -> Discard;
u :: Script(TYPE PASSIVE, print "$(e.nagg) pulled", write e.freeze true);
Script(wait 1, stop);
//= 2 pulled
//? e.count
//= 4
//? f.count
//= 5
