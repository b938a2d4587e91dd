// Checksums of TCP, UDP and ICMP, also behind extension headers, which CheckIP6Header marks them behind if it is to.
//! workers 1
elementclass Sum { $data | InfiniteSource(DATA $data, LIMIT 1) -> Pad(200) -> CheckIP6Header -> SetTransportChecksumIP6 -> output };
Sum(\<60000000 000a 3a 40 20010db8000000000000000000000001 20010db8000000000000000000000002 8000 0000 00010002 6162>)
  -> Print(icmp, -1) -> Discard;
Sum(\<60000000 0012 3c 40 20010db8000000000000000000000001 20010db8000000000000000000000002 1100010400000000 0005 0006 000a ffff 6162>)
  -> Print(udp, -1) -> CheckIP6Header(PROCESS_EH true) -> StripTransportHeader -> Print(payload, -1) -> Discard;
Script(wait 1, stop);
//= icmp:   50 | 60000000 000a3a40 20010db8 00000000 00000000 00000001 20010db8 00000000 00000000 00000002 8000c2e0 00010002 6162
//= udp:   58 | 60000000 00123c40 20010db8 00000000 00000000 00000001 20010db8 00000000 00000000 00000002 11000104 00000000 00050006 000a42f8 6162
//= payload:    2 | 6162
