// Extension headers of IPv6 are put in front of data.
InfiniteSource(DATA \<68656c6c6f>, LIMIT 1) -> t :: Tee(5);
t[0] -> HopByHopEncap(PROTO 17) -> IP6Encap(SRC 2001:db8::1, DST 2001:db8::2, PROTO 0) -> CheckIP6Header -> Strip(40) -> Print(hop) -> Discard;
t[1] -> DestinationOptionsEncap(17) -> Print(destination) -> Discard;
t[2] -> RouterAlertEncap(PROTO 17, OPTION 258) -> Print(alert) -> Discard;
t[3] -> FragmentationEncap(PROTO 17, OFFSET 2, M 1, ID 7) -> Print(fragment) -> Discard;
t[4] -> RoutingZeroEncap(PROTO 17, ADDRESSES "2001:db8::3 2001:db8::4") -> Print(route, MAXLENGTH 100) -> Discard;
Script(wait 1, stop);
//= hop:   13 | 11000104 00000000 68656c6c 6f
//= destination:   13 | 11000104 00000000 68656c6c 6f
//= alert:   13 | 11000502 01020100 68656c6c 6f
//= fragment:   13 | 11000011 00000007 68656c6c 6f
//= route:   45 | 11040002 00000000 20010db8 00000000 00000000 00000003 20010db8 00000000 00000000 00000004 68656c6c 6f
//! then
Idle -> FragmentationEncap(17, 8192, 0) -> RoutingZeroEncap(17, "::1 nowhere") -> HopByHopEncap(256) -> RouterAlertEncap(17) -> Discard;
//! error OFFSET should be an integer between 0 and 8191
//! error The address 'nowhere' is not a valid IPv6 address
//! error PROTO: out of range, bound 255
//! error OPTION: required argument missing
