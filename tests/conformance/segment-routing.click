// A packet goes by way of two addresses, and arrives as it left.
//! workers 1
InfiniteSource(DATA \<68656c6c6f>, LIMIT 1) -> UDPIP6Encap(2001:db8::1, 5, 2001:db8::9, 6) -> IP6SREncap(2001:db8::2, 2001:db8::3) -> Print(sent, -1)
  -> IP6Print(sent) -> IP6SRProcess(2001:db8::3) -> IP6Print(three) -> IP6SRDecap -> IP6Print(two)
  -> IP6SRDecap -> IP6Print(nine) -> CheckIP6Header -> c :: SetUDPChecksumIP6 -> Print(nine, -1) -> IP6SRDecap -> IP6SRProcess
  -> IP6SREncap(2001:db8::4, ENCAP_DST false) -> IP6Print(four) -> IP6SRDecap(FORCE_DECAP true) -> Print(plain, -1) -> Discard;
Script(wait 1, stop);
//= sent:  109 | 60000000 00452bff 20010db8 00000000 00000000 00000001 20010db8 00000000 00000000 00000003 11060402 02000000 20010db8 00000000 00000000 00000009 20010db8 00000000 00000000 00000002 20010db8 00000000 00000000 00000003 00050006 000d607b 68656c6c 6f
//= sent: 2001:db8::1 -> 2001:db8::3 plen 69, next 43, hlim 255
//= three: 2001:db8::1 -> 2001:db8::2 plen 69, next 43, hlim 255
//= two: 2001:db8::1 -> 2001:db8::9 plen 69, next 43, hlim 255
//= nine: 2001:db8::1 -> 2001:db8::9 plen 13, next 17, hlim 255
//= nine:   53 | 60000000 000d11ff 20010db8 00000000 00000000 00000001 20010db8 00000000 00000000 00000009 00050006 000d607b 68656c6c 6f
//= four: 2001:db8::1 -> 2001:db8::4 plen 37, next 43, hlim 255
//= plain:   53 | 60000000 000d11ff 20010db8 00000000 00000000 00000001 20010db8 00000000 00000000 00000004 00050006 000d607b 68656c6c 6f
//! then
Idle -> IP6SREncap -> Discard;
//! error ADDR
