// Wireless frames: there and back, with what is known of them in front of them and beside them.
w :: WirelessInfo(SSID lab, BSSID 9:9:9:9:9:9);
InfiniteSource(LIMIT 1, STOP true, DATA \<ffffffffffff 020000000001 0806 0001>)
  -> WifiEncap(2, WIRELESS_INFO w) -> SetTXPower(60) -> SetTXRate(22, TRIES 4) -> PrintWifi(sent)
  -> ExtraEncap -> CheckLength(62) -> ExtraDecap -> RadiotapEncap -> CheckLength(65) -> RadiotapDecap
  -> e :: FilterPhyErr -> t :: FilterTX -> Discard;
t[1] -> PrintWifi(seen) -> WifiDecap -> Print(back, -1) -> Discard;
e[1] -> Discard;
//= sent:   34 | 11Mb + 0/ 0 | data frds FF-FF-FF-FF-FF-FF 09-09-09-09-09-09 02-00-00-00-00-01 seq 0 [ ] 
//= seen:   34 | 11Mb + 0/ 0 | data frds FF-FF-FF-FF-FF-FF 09-09-09-09-09-09 02-00-00-00-00-01 seq 0 [ tx ]  retries 4
//= back:   16 | ffffffff ffff0200 00000001 08060001
//? w.ssid
//= lab
//! then
// A Prism header; its signal, noise and rate are printed.
InfiniteSource(LIMIT 1, STOP true, DATA \<44000000 90000000 77000000 00000000 00000000 00000000
    41000000 00000400 00000000 42000000 00000400 00000000 43000000 00000400 00000000 44000000 00000400 28000000
    45000000 00000400 00000000 46000000 00000400 00000000 47000000 00000400 05000000 48000000 00000400 04000000
    49000000 00000400 00000000 4a000000 00000400 18000000
    c4000000 010101010101>) -> Prism2Decap -> PrintWifi -> Discard;
//=   10 |  2Mb +40/ 5 | cntl cts  01-01-01-01-01-01 [ ] 
//! then
// Access points that are heard, and which of their rates this host has.
rates :: AvailableRates(DEFAULT 2 22, 2:2:2:2:2:2 4);
InfiniteSource(LIMIT 3, STOP true, DATA \<80000000 ffffffffffff 010101010101 010101010101 1000 0000000000000000 6400 1100
    0003 6c6162 0103 828496 0301 06>) -> s :: BeaconScanner(RT rates, CHANNEL 6) -> Discard;
//? rates.rates
//= DEFAULT  2 22
//= 01-01-01-01-01-01  2 22
//= 02-02-02-02-02-02  4
//? s.channel
//= 6
//! then
// A frame that is sent again with its number passes once.
InfiniteSource(LIMIT 3, STOP true, DATA \<080a0000 040404040404 020202020202 030303030303 1000 aaaa030000000800 45>)
  -> d :: WifiDupeFilter -> c :: Counter -> Discard;
//? c.count
//= 1
//? d.dupes
//= 2
//! then
AvailableRates(DEFAULT);
//! error DEFAULT must have > 1 arg
//! then
n :: Idle -> WifiEncap(1, WIRELESS_INFO n) -> Discard;
//! error not a WirelessInfo element
