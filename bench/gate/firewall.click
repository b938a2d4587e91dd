// Answers from outside that come through a firewall because a host inside has asked: conf/firewall.click for one direction.
define($LIMIT 1000);

// From 192.0.2.10, port 4000, to 198.51.100.53, port 53; and back.
request :: InfiniteSource(DATA \<
  000000000000 000000000000 0800  4500002e 00000000 40118e4c c000020a c6336435
  0fa00035 001a0372 000000000000000000000000000000000000>, LIMIT 1, ACTIVE false);
answers :: InfiniteSource(DATA \<
  000000000000 000000000000 0800  4500002e 00000000 40118e4c c6336435 c000020a
  00350fa0 001a0372 000000000000000000000000000000000000>, LIMIT $LIMIT, BURST 32, ACTIVE false, STOP true);

ct :: ConnTrack(CAPACITY 65536);

request -> CheckIPHeader(14) -> [0]ct[0]
  -> IPFilter(deny state invalid, allow src net 192.0.2.0/24, deny all)
  -> ConnTrackConfirm(ct) -> Discard;

answers -> kind :: Classifier(12/0800, 12/86dd, 12/0806, -);
kind[1] -> Discard;
kind[2] -> Discard;
kind[3] -> Discard;
kind[0] -> CheckIPHeader(14) -> [1]ct[1]
  -> IPFilter(
    deny src net 192.0.2.0/24,
    deny not dst net 192.0.2.0/24,
    deny ip frag and (tcp or udp) and ip[6:2] & 0x1fff == 1,
    allow state established or related,
    allow state new and dst host 192.0.2.80 and (dst tcp port www or https),
    allow state new and dst host 192.0.2.25 and dst tcp port smtp,
    deny all,
    COUNT true)
  -> ConnTrackConfirm(ct) -> Queue -> d :: Discard(BURST 32);

Script(write request.active true, wait 1ms, write answers.active true);
