// An address comes from an annotation; a faked answer; what a solicitor says of itself.
//! workers 1
InfiniteSource(DATA \<010203040506 0708090a0b0c 0800>, LIMIT 1) -> GetEtherAddress(0, 6) -> StoreEtherAddress(OFFSET dst, ANNO 0) -> Print(stored)
  -> Discard;
ARPFaker(DSTIP 10.0.0.1, DSTETH 1:1:1:1:1:1, SRCIP 10.0.0.2, SRCETH 2:2:2:2:2:2) -> Print(faked, 42) -> Discard;
n :: IP6NDSolicitor(IP 2001:db8::1, ETH 1:1:1:1:1:1); Idle -> [0] n; Idle -> [1] n; n -> Discard;
Script(write n.insert 2001:db8::2 2:2:2:2:2:2, print $(n.table), print $(n.stats), wait 2, stop);
//= stored:   14 | 0708090a 0b0c0708 090a0b0c 0800
//= 2001:db8::2 1 02-02-02-02-02-02
//= 0 packets killed
//= 0 ND Solicitation Message sent
//= faked:   42 | 01010101 01010202 02020202 08060001 08000604 00020202 02020202 0a000002 01010101 01010a00 0001
