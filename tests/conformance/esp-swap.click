// Sequence numbers of an IPsec tunnel go on when the configuration is replaced, on both sides; with another key they begin anew.
define($KEY "\<00112233 44556677 8899aabb ccddeeff 01020304>");
InfiniteSource(DATA \<45>, LIMIT 3) -> e :: ESPEncap(300, $KEY) -> d :: ESPDecap(300, $KEY) -> c :: Counter -> Discard;
Script(wait 1, print $(e.sequence) $(d.sequence) $(c.count), stop);
//= 3 3 3
//! swap
define($KEY "\<00112233 44556677 8899aabb ccddeeff 01020304>");
InfiniteSource(DATA \<45>, LIMIT 2) -> e :: ESPEncap(300, $KEY) -> d :: ESPDecap(300, $KEY, WINDOW 64) -> c :: Counter -> Discard;
Script(wait 1, print $(e.sequence) $(d.sequence) $(c.count), stop);
//= 5 5 2
//! swap
define($KEY "\<00112233 44556677 8899aabb ccddeeff 01020305>");
InfiniteSource(DATA \<45>, LIMIT 2) -> e :: ESPEncap(300, $KEY) -> d :: ESPDecap(300, $KEY) -> c :: Counter -> Discard;
Script(wait 1, print $(e.sequence) $(d.sequence) $(c.count), stop);
//= 2 2 2
