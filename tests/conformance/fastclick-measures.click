// FastClick's measurements: packets are numbered, the recorder keeps when each passed, TimestampDiff says how long ago that was. Packets that
// carry no number that is expected, or whose number has come before, leave by output 1.
InfiniteSource(LENGTH 20, LIMIT 4) -> n :: NumberPacket(12) -> r :: RecordTimestamp(OFFSET 12, N 4)
  -> Queue -> DelayUnqueue(0.002) -> t :: Tee -> d :: TimestampDiff(r, OFFSET 12) -> k :: CheckNumberPacket(12, 4) -> Discard;
t[1] -> again :: TimestampDiff(r, OFFSET 12); again[0] -> Discard; again[1] -> twice :: Counter -> Discard;
// The packets of another source are numbered in order of arrival, in network order.
InfiniteSource(DATA x, LIMIT 3) -> m :: NumberPacket(1, NET_ORDER true) -> s :: RecordTimestamp(COUNTER m, OFFSET 1, N 2)
  -> e :: TimestampDiff(s, OFFSET 1, SAMPLE 2); e[0] -> o :: CheckNumberPacket(1, NET_ORDER true, COUNT 1);
e[1] -> unknown :: Counter -> Print(U) -> Discard; o[0] -> Discard; o[1] -> other :: Counter -> Discard;
// Where packets have no numbers, the first is 0.
InfiniteSource(DATA \<0000000000000000 0000000000000001>, LIMIT 2) -> f :: RecordTimestamp -> Queue -> DelayUnqueue(0.5)
  -> g :: TimestampDiff(f, OFFSET 8, NET_ORDER true, NANO true, MAXDELAY 600) -> Discard;
Script(wait 1, print $(d.average 3) $(d.perc 50 4), print $(d.dump_list 2), stop);
//= o :: CheckNumberPacket: 1 out of scope (count is 1) !
//= U:    9 | 78000000 00000000 02
//= 2000 0
//= 2000
//= 2000
//? n.count
//= 4
//? r.missed
//= 0
//? d.count
//= 4
//? d.min
//= 2000
//? d.median
//= 2000
//? d.stddev
//= 0
//? d.late
//= 0
//? k.dump
//= 0: 1
//= 1: 1
//= 2: 1
//= 3: 1
//? k.min
//= [0] : 1
//? twice.count
//= 4
//? s.missed
//= 1
//? e.count
//= 1
//? e.index
//= 0
//? unknown.count
//= 1
//? other.count
//= 1
//? o.max
//= [0] : 1
//? g.last
//= 500000000
//? g.drop_reasons
//= 1	no recorded timestamp
//! then
// Lines tell of packets that are late, up to ten; of no delays everything is 0.
InfiniteSource(LIMIT 11) -> NumberPacket(0) -> r :: RecordTimestamp(OFFSET 0) -> Queue -> DelayUnqueue(3ms) -> t :: TimestampDiff(r, OFFSET 0, MAXDELAY 2) -> Discard;
InfiniteSource(LIMIT 1) -> NumberPacket(0) -> s :: RecordTimestamp(OFFSET 0) -> Queue -> DelayUnqueue(2s) -> TimestampDiff(s, OFFSET 0, VERBOSE false) -> Discard;
k :: CheckNumberPacket; Idle -> k -> Discard;
Script(wait 3, print $(t.late) $(t.average) $(t.min) $(t.max) $(t.stddev) $(t.median) $(t.perc 10) $(t.index) $(t.last),
  print $(k.max) $(k.min), stop);
//= Packet 0 experienced delay 3 ms > 2 ms
//= Packet 1 experienced delay 3 ms > 2 ms
//= Packet 2 experienced delay 3 ms > 2 ms
//= Packet 3 experienced delay 3 ms > 2 ms
//= Packet 4 experienced delay 3 ms > 2 ms
//= Packet 5 experienced delay 3 ms > 2 ms
//= Packet 6 experienced delay 3 ms > 2 ms
//= Packet 7 experienced delay 3 ms > 2 ms
//= Packet 8 experienced delay 3 ms > 2 ms
//= Packet 9 experienced delay 3 ms > 2 ms
//= 11 0 0 0 0 0 0 -1 0
//= [-1] : -1 [-1] : 2147483647
