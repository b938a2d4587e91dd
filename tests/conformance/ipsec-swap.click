// Numbers of associations on the same terms go on in the next configuration; others begin.
define($K \<0183A947 1ABE01FF FA04103B B1020304>);
InfiniteSource(DATA 1234, LIMIT 3) -> IPEncap(17, 1.0.0.1, 10.0.2.2) -> r :: RadixIPsecLookup(10.0.2.0/24 1 234 $K $K 300 64, 10.0.3.0/24 1 235 $K $K 5 64);
r[0] -> Discard; r[1] -> IPsecESPEncap -> Print(first, 8) -> Discard;
Script(wait 1, stop);
//= first:   48 | 000000ea 0000012c
//= first:   48 | 000000ea 0000012d
//= first:   48 | 000000ea 0000012e
//! swap
define($K \<0183A947 1ABE01FF FA04103B B1020304>);
InfiniteSource(DATA 1234, LIMIT 1) -> IPEncap(17, 1.0.0.1, 10.0.2.2) -> r :: RadixIPsecLookup(10.0.2.0/24 1 234 $K $K 300 64, 10.0.3.0/24 1 235 $K $K 6 64);
r[0] -> Discard; r[1] -> IPsecESPEncap -> Print(second, 8) -> Discard;
Script(wait 1, stop);
//= second:   48 | 000000ea 0000012f
//? r.table
//= 10.0.2.0/24		-		1	spi 234 sent 4 received 0
//= 10.0.3.0/24		-		1	spi 235 sent 0 received 0
