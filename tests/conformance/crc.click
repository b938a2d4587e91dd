// A checksum is appended, checked and taken off; a wrong one is found.
InfiniteSource(DATA abcd, LIMIT 2) -> SetCRC32 -> Print(with, CONTENTS NONE) -> r :: RoundRobinSwitch;
r[0] -> c :: CheckCRC32 -> Print(without) -> good :: Counter -> Discard;
r[1] -> StoreData(0, z) -> c;
Script(wait 1, stop);
//= with:    8
//= without:    4 | 61626364
//= with:    8
//= CRC32 failed, len 8
//? good.count
//= 1
//? c.drops
//= 1
