// What is said of frames that are to be sent: their numbers, whether to ask before them, whether to acknowledge them.
w :: WirelessInfo(BSSID 2:0:0:0:0:1);
InfiniteSource(LIMIT 2, STOP true, BURST 1, DATA \<020000000009 020000000005 0800 78>)
  -> WifiEncap(1, WIRELESS_INFO w) -> seq :: WifiSeq -> rts :: SetRTS(true) -> SetNoAck -> PrintTXFeedback(to, OFFSET 4)
  -> Print(frame, -1) -> ExtraEncap -> Print(flags, 16) -> ExtraDecap -> RadiotapEncap -> Print(radiotap, 24) -> Discard;
//= to: 1000000000.000000 02-00-00-00-00-01 flags 4256 rate 0 tries 0 rate1 0 tries1 0 rate2 0 tries2 0 rate3 0 tries3 0
//= frame:   33 | 08010000 02000000 00010200 00000005 02000000 00090000 aaaa0300 00000800 78
//= flags:   61 | 01204907 00000000 00000000 a0100000
//= radiotap:   64 | 00001f00 048002a0 040002a0 040002a0 04000200 00001c00
//= to: 1000000000.000000 02-00-00-00-00-01 flags 4256 rate 0 tries 0 rate1 0 tries1 0 rate2 0 tries2 0 rate3 0 tries3 0
//= frame:   33 | 08010000 02000000 00010200 00000005 02000000 00091000 aaaa0300 00000800 78
//= flags:   61 | 01204907 00000000 00000000 a0100000
//= radiotap:   64 | 00001f00 048002a0 040002a0 040002a0 04000200 00001c00
//? seq.seq
//= 2
//? rts.rts
//= true
//! then
// A Prism header, and what it says when it is read again.
InfiniteSource(LIMIT 1, STOP true, DATA \<c4000000 010101010101>)
  -> SetTXRate(22) -> Prism2Encap -> Print(prism, -1) -> Prism2Decap -> PrintTXFeedback -> Discard;
//= prism:  154 | 44000000 90000000 00000000 00000000 00000000 00000000 44000100 01000400 00000000 44000200 01000400 00000000 44000300 01000400 00000000 44000400 00000400 00000000 44000500 01000400 00000000 44000600 00000400 00000000 44000700 00000400 00000000 44000800 00000400 16000000 44000900 00000400 01000000 44000a00 00000400 0a000000 c4000000 01010101 0101
//= PrintTXFeedback 1000000000.000000 C4-00-00-00-01-01 flags 1 rate 22 tries 0 rate1 -1 tries1 0 rate2 -1 tries2 0 rate3 -1 tries3 0
//! then
// How well stations are heard, by rate, signal and noise of a Prism header.
InfiniteSource(LIMIT 2, STOP true, DATA \<44000000 90000000 00000000 00000000 00000000 00000000
    44000100 01000400 00000000 44000200 01000400 00000000 44000300 01000400 00000000 44000400 00000400 28000000
    44000500 01000400 00000000 44000600 00000400 28000000 44000700 00000400 05000000 44000800 00000400 16000000
    44000900 00000400 00000000 44000a00 00000400 0f000000
    020000000009 020000000005 0800 78>)
  -> Prism2Decap -> s :: RXStats -> Discard;
//? s.stats
//= 02-00-00-00-00-05 rate 22 signal 40 noise 5 avg_signal 40.000000 avg_noise 5.000000 total_signal 80 total_noise 10 packets 2 last_received 0.000000
