// Time to live, checksum and Ethernet header in one pass; what has no time left leaves as it came.
a :: IPAdjacency(10.0.0.1/24, 1:1:1:1:1:1);
InfiniteSource(LENGTH 4, LIMIT 1) -> UDPIPEncap(10.0.9.9, 1, 10.0.8.8, 2) -> SetIPAddress(10.0.0.2) -> [0] a;
InfiniteSource(DATA \<45000014 00000000 01110000 0a000909 0a000808>, LIMIT 1) -> SetIPAddress(10.0.0.2) -> [0] a;
a[0] -> Strip(14) -> CheckIPHeader -> Print(sent, 12) -> Unstrip(14) -> Print(frame, 14) -> Discard;
a[1] -> ARPResponder(10.0.0.2 2:2:2:2:2:2) -> [1] a;
a[2] -> Print(expired, 12) -> Discard;
Script(wait 0.1, stop);
//= sent:   32 | 45000020 00000000 f9119cbc
//= frame:   46 | 02020202 02020101 01010101 0800
//= expired:   20 | 45000014 00000000 01110000
