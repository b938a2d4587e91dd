// Tunnels by number and by annotation; a header with options, and ones that are cut off.
InfiniteSource(DATA abc, LIMIT 1) -> GTPEncap(0x10203) -> Print(in) -> GTPDecap -> GTPEncap(TEID 0) -> Print(again) -> Discard;
InfiniteSource(DATA \<32ff0004 00000007 12345600 61>, LIMIT 1) -> d :: GTPDecap -> Print(options) -> Discard;
InfiniteSource(DATA \<32ff0004 00000007 123456>, LIMIT 1) -> d;
InfiniteSource(DATA \<30ff0004 000000>, LIMIT 1) -> d;
Script(wait 1, stop);
//= in:   11 | 30ff0003 00010203 616263
//= again:   11 | 30ff0003 00010203 616263
//= options:    1 | 61
//? d.drop_reasons
//= 2	no GTP header
