// Records behind TCP and ICMP headers, whose checksums stay right.
tcp :: InfiniteSource(DATA \<00010002 00000000 00000000 5002ffff 00000000 ffffffff ffffffff ffffffff ffffffff ffffffff 61>, LIMIT 1)
  -> IPEncap(6, 1.0.0.1, 2.0.0.2) -> SetTCPChecksum -> t :: StoreTCPTimeSeqRecord(0) -> Queue -> DelayUnqueue(0.5)
  -> StoreTimeSeqRecord(OFFSET 0, DELTA true) -> CheckTCPHeader -> Strip(40) -> Print(tcp) -> Discard;
InfiniteSource(DATA \<08000000 00010002 ffffffff ffffffff ffffffff ffffffff ffffffff>, LIMIT 2)
  -> IPEncap(1, 1.0.0.1, 2.0.0.2) -> SetICMPChecksum -> i :: StoreTimeSeqRecord(0) -> Queue -> DelayUnqueue(0.25)
  -> StoreICMPTimeSeqRecord(0, DELTA true) -> CheckICMPHeader -> Strip(28) -> Print(icmp) -> Discard;
// Another protocol, and no room.
InfiniteSource(DATA \<0000>, LENGTH 64, LIMIT 1) -> IPEncap(47, 1.0.0.1, 2.0.0.2) -> o :: StoreTimeSeqRecord(0) -> Discard;
InfiniteSource(LENGTH 39, LIMIT 1) -> IPEncap(6, 1.0.0.1, 2.0.0.2) -> o;
Script(wait 2, print $(t.count) $(i.count) $(o.count), write i.reset, print $(i.count), stop);
//= icmp:   20 | 00000001 3b9aca00 00000000 00000000 0ee6b280
//= icmp:   20 | 00000002 3b9aca00 00000000 00000000 0ee6b280
//= tcp:   21 | 00000001 3b9aca00 00000000 00000000 1dcd6500 61
//= 1 2 0
//= 0
//! workers 1
