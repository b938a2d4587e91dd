// What an access point sends, byte for byte: a beacon every 100 units of 1024 us, more rates than one element of
// information has room for, and the answer to who looks for this network.
w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1, CHANNEL 11);
r :: AvailableRates(DEFAULT 2 4 11 22 12 18 24 36 48 72);
InfiniteSource(LIMIT 1, DATA \<40000000 ffffffffffff 020000000005 ffffffffffff 1000 0000 0104 02040b16>)
  -> b :: BeaconSource(WIRELESS_INFO w, RT r) -> Print(b, -1) -> Discard;
Script(wait 0.102, print "102 ms", wait 0.1, stop);
//= b:   58 | 50000000 02000000 00050200 00000001 02000000 00010000 00000000 00000000 64000100 00036c61 62010882 040b160c 12182403 010b3202 3048
//= 102 ms
//= b:   64 | 80000000 ffffffff ffff0200 00000001 02000000 00010000 00000000 00000000 64000100 00036c61 62010882 040b160c 12182403 010b0504 00010000 32023048
//! then
// The same answer from an element that knows the network by itself; other names are not answered.
r :: AvailableRates(DEFAULT 2 4);
InfiniteSource(LIMIT 1, DATA \<40000000 ffffffffffff 020000000005 ffffffffffff 1000 0003 6c6162 0102 0204>) -> p :: ProbeResponder(
  SSID lab, BSSID 2:0:0:0:0:1, CHANNEL 6, INTERVAL 50, RT r, DEBUG true) -> Print(p, -1) -> Discard;
InfiniteSource(LIMIT 1, STOP true, DATA \<40000000 ffffffffffff 020000000005 ffffffffffff 1000 0003 646570>) -> p;
//= p: ProbeReq: 02-00-00-00-00-05 ssid lab rates { 2 4 }
//= p:   48 | 50000000 02000000 00050200 00000001 02000000 00010000 00000000 00000000 32000100 00036c61 62010282 04030106
//= p: other ssid dep wanted lab
//? p.drop_reasons
//= 1	for another network
//! then
// Who a station is that joins, open to all: answered with step 2. Proof by a key is not.
w :: WirelessInfo(BSSID 2:0:0:0:0:1);
InfiniteSource(LIMIT 1, DATA \<b0000000 020000000001 020000000005 020000000001 1000 0000 0100 0000>)
  -> a :: OpenAuthResponder(WIRELESS_INFO w) -> Print(a, -1) -> Discard;
InfiniteSource(LIMIT 1, STOP true, DATA \<b0000000 020000000001 020000000005 020000000001 1000 0100 0100 0000>) -> a;
//= a:   30 | b0000000 02000000 00050200 00000001 02000000 00010000 00000200 0000
//? a.drop_reasons
//= 1	authentication with proof
//! then
// Stations that join: each with a number of its own; one joins again from another access point, one leaves.
w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1, WEP true);
r :: AvailableRates(DEFAULT 2 4 11 22);
a :: AssociationResponder(WIRELESS_INFO w, RT r) -> Print(a, -1) -> Discard;
RatedSource(LIMIT 1, DATA \<00000000 020000000001 020000000005 020000000001 1000 1100 0a00 0003 6c6162 0102 8204 3201 16>) -> a;
RatedSource(LIMIT 1, DATA \<20000000 020000000001 020000000006 020000000001 1000 1100 0a00 020000000009 0003 6c6162 0101 82>) -> a;
RatedSource(LIMIT 1, DATA \<a0000000 020000000001 020000000005 020000000001 1000 0800>) -> a;
Script(wait 0.1, stop);
//= a:   36 | 10000000 02000000 00050200 00000001 02000000 00010000 11000000 01c00104 82040b16
//= a:   36 | 30000000 02000000 00060200 00000001 02000000 00010000 11000000 02c00104 82040b16
//? a.stations
//= 02-00-00-00-00-06 2
//? r.rates
//= DEFAULT  2 4 11 22
//= 02-00-00-00-00-05  2 4 22
//= 02-00-00-00-00-06  2
//! then
w :: WirelessInfo(INTERVAL 0);
r :: AvailableRates;
BeaconSource(WIRELESS_INFO w, RT r) -> Discard;
//! error INTERVAL must be >0
//! then
w :: WirelessInfo;
Idle -> AssociationResponder(WIRELESS_INFO w) -> Discard;
//! error RT
