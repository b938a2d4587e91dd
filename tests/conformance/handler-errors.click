// What handlers say to values that they cannot read, and new data of RatedSource has its own length.
//! workers 1
Idle -> p :: Paint(1) -> pt :: Print -> ee :: EtherEncap(0x800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> sea :: StoreEtherAddress(1:1:1:1:1:1, dst) -> red :: RED(5, 50, 0.1)
 -> ud :: UDPIPEncap(1.2.3.4, 5, 6.7.8.9, 10) -> ie :: IPEncap(tcp, 1.2.3.4, 5.6.7.8) -> si :: SetIPAddress(1.1.1.1) -> Queue -> u :: Unqueue -> Queue -> ru :: RatedUnqueue(10)
 -> Queue -> sh :: Shaper(10) -> d :: Discard;
i :: InfiniteSource(LIMIT 0) -> RandomSample(SAMPLE 1) -> at :: AdjustTimestamp(1) -> Discard;
t :: TimedSource(1, LIMIT 0) -> sup :: Suppressor -> Discard;
r :: RatedSource(abc, 10, 2, LENGTH 5) -> Print -> Discard;
Script(writeq p.color 256, writeq pt.active maybe, writeq ee.src 1, writeq ee.ethertype 70000, writeq sea.addr x, writeq red.max_p x, writeq red.min_thresh x,
  writeq ud.dst x, writeq ud.sport x, writeq ie.src x, writeq si.addr x, writeq u.active x, writeq u.burst x, writeq ru.rate x, writeq ru.active x,
  writeq sh.rate x, writeq d.active x, writeq i.limit x, writeq i.active x, writeq i.length x, writeq at.time x, writeq t.limit x, writeq sup.active0 x,
  writeq r.rate x, writeq r.limit x, writeq r.length x, write r.data abcdefg, write r.reset, wait 1, write r.length 3, write r.reset, wait 1, stop);
//=    5 | 61626361 62
//=    5 | 61626361 62
//= While executing 'Script@27 :: Script':
//=   While calling 'p.color 256':
//=     expected uint8_t
//=   While calling 'pt.active maybe':
//=     expected boolean
//=   While calling 'ee.src 1':
//=     SRC: parse error
//=   While calling 'ee.ethertype 70000':
//=     ETHERTYPE: out of range, bound 65535
//=   While calling 'sea.addr x':
//=     expected Ethernet address
//=   While calling 'red.max_p x':
//=     MAX_P: parse error
//=   While calling 'red.min_thresh x':
//=     MIN_THRESH: invalid number
//=   While calling 'ud.dst x':
//=     DST: parse error
//=   While calling 'ud.sport x':
//=     SPORT: parse error
//=   While calling 'ie.src x':
//=     SRC: parse error
//=   While calling 'si.addr x':
//=     expected IP address
//=   While calling 'u.active x':
//=     syntax error
//=   While calling 'u.burst x':
//=     syntax error
//=   While calling 'ru.rate x':
//=     RATE: invalid number
//=   While calling 'ru.active x':
//=     expected boolean
//=   While calling 'sh.rate x':
//=     RATE: invalid number
//=   While calling 'd.active x':
//=     syntax error
//=   While calling 'i.limit x':
//=     limit parameter must be integer
//=   While calling 'i.active x':
//=     active parameter must be boolean
//=   While calling 'i.length x':
//=     length must be integer
//=   While calling 'at.time x':
//=     expected time in seconds
//=   While calling 't.limit x':
//=     expected integer
//=   While calling 'sup.active0 x':
//=     type mismatch
//=   While calling 'r.rate x':
//=     syntax error
//=   While calling 'r.limit x':
//=     syntax error
//=   While calling 'r.length x':
//=     syntax error
//=    7 | 61626364 656667
//=    7 | 61626364 656667
//=    3 | 616263
//=    3 | 616263
