// What a station sends, byte for byte, when it looks for a network and joins it.
w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1, CHANNEL 6);
r :: AvailableRates(DEFAULT 2 4 11 22);
probe :: ProbeRequester(ETH 2:0:0:0:0:5, WIRELESS_INFO w, RT r) -> Print(probe, -1) -> Discard;
Idle -> auth :: OpenAuthRequester(ETH 2:0:0:0:0:5, WIRELESS_INFO w) -> Print(auth, -1) -> Discard;
Idle -> assoc :: AssociationRequester(ETH 2:0:0:0:0:5, WIRELESS_INFO w, RT r) -> Print(assoc, -1) -> Discard;
Script(write probe.send_probe 1, write auth.send_auth_req 1, write assoc.send_assoc_req 1,
  write w.channel 36, write w.ssid, write w.wep true, write r.insert DEFAULT 12 24,
  write probe.send_probe 1, write assoc.send_assoc_req 1, stop);
//= probe:   35 | 40000000 ffffffff ffff0200 00000005 ffffffff ffff0000 00036c61 62010482 040b16
//= auth:   30 | b0000000 02000000 00010200 00000005 02000000 00010000 00000100 0000
//= assoc:   39 | 00000000 02000000 00010200 00000005 02000000 00010000 01006400 00036c61 62010482 040b16
//= probe:   30 | 40000000 ffffffff ffff0200 00000005 ffffffff ffff0000 00000102 8c18
//= assoc:   34 | 00000000 02000000 00010200 00000005 02000000 00010000 11006400 00000102 8c18
//! then
// The answers, and the end of it.
w :: WirelessInfo(BSSID 2:0:0:0:0:1);
r :: AvailableRates(DEFAULT 2 4 11 22);
auth :: OpenAuthRequester(ETH 2:0:0:0:0:5, WIRELESS_INFO w, DEBUG true) -> Discard;
assoc :: AssociationRequester(ETH 2:0:0:0:0:5, WIRELESS_INFO w, RT r, DEBUG true) -> Discard;
RatedSource(LIMIT 1, DATA \<b0000000 020000000005 020000000001 020000000001 1000 0000 0200 0000>) -> auth;
yes :: RatedSource(LIMIT 1, DATA \<10000000 020000000005 020000000001 020000000001 1000 0100 0000 01c0 0102 8216>) -> assoc;
out :: RatedSource(LIMIT 1, ACTIVE false, DATA \<a0000000 020000000005 020000000001 020000000001 2000 0500>) -> assoc;
Script(wait 0.1, print "$(auth.authenticated) $(assoc.associated)", write out.active true, wait 0.1, print $(assoc.associated), stop);
//= auth: auth 0 seq 2 status 0
//= assoc: response 02-00-00-00-00-01 +0 [ ESS ] status 0 associd 49153 ( { 2 } 22 )
//= true true
//= assoc: disassociation from 02-00-00-00-00-01 reason 5
//= false
//? r.rates
//= DEFAULT  2 4 11 22
//= 02-00-00-00-00-01  2 22
//! then
// Half of the last ten beacons arrive.
w :: WirelessInfo(SSID lab, BSSID 2:0:0:0:0:1);
r :: AvailableRates;
BeaconSource(WIRELESS_INFO w, RT r) -> s :: RoundRobinSwitch;
s[1] -> Discard;
s -> t :: BeaconTracker(WIRELESS_INFO w) -> Discard;
Script(wait 5, stop);
//? t.stats
//= 50
//? t.beacon_interval
//= 100
