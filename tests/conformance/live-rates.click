// Rate limits, sources and others take all their arguments anew while they run.
//! workers 1
t :: TimedSource(0.1, DATA \<600000000000 3b40 20010db8000000000000000000000001 20010db8000900000000000000000009>)
  -> MarkIP6Header -> h :: SetIP6Hlim(1) -> f :: SetIP6FlowLabel(1) -> d :: SetIP6DSCP(0) -> n :: SetIP6ECN(no) -> p :: Print(six, 8, ACTIVE false) -> Discard;
s :: InfiniteSource(DATA abcd, LIMIT 2) -> b :: RandomBitErrors(1, set) -> Print(one) -> Discard;
RatedSource(RATE 1000) -> u :: Queue(2000) -> r :: RatedUnqueue(10, BURST_SIZE 1) -> x :: RatedSplitter(100) -> c :: Counter -> Discard;
w :: BandwidthShaper(100); Idle -> w -> Discard;
e :: Script(wait 0.35, write h.hopLimit 5, writeq f.config "FLOW 0x12345", write d.config 46, write n.config ce, write p.active true, print h.config, print $(f.config), wait 0.1,
  write p.active false, write h.config 300, print h.config,
  write b.p_bit_error 0.5, write b.error_kind clear, print b.config, writeq b.config "1, clear", writeq s.config "DATA a, LIMIT 1", print s.count, write s.reset, wait 0.1, print s.config,
  writeq r.config "1000, BURST_SIZE 1000", writeq x.config "100000, BURST_DURATION 1s", writeq w.config "RATE 200kBps", print r.rate, print x.config, print w.rate,
  write r.config BURST_SIZE 2, write c.reset, wait 1, print $(gt $(c.count) 900), stop);
//= one:    4 | ffffffff
//= one:    4 | ffffffff
//= 5
//= FLOW 0x12345
//= six:   40 | 6bb12345 00003b05
//= While executing 'e :: Script':
//=   While calling 'h.config 300':
//=     HLIM: out of range, bound 255
//= 5
//= 0.5, clear
//= 0
//= one:    1 | 00
//= DATA a, LIMIT 1
//= 1000
//= 100050
//= 1.6Mbps
//= While executing 'e :: Script':
//=   While calling 'r.config BURST_SIZE 2':
//=     RATE: invalid number
//= true
