// Of several routes for a prefix in the configuration the first counts, of IPv6 routes the last; handlers say what is wrong in Click's words.
//! workers 1
r :: RadixIPLookup(0/0 1.0.0.1 0, 10.0.0.0/8 1, 10.0.0.0/8 2, 10.0.0.0/8 1.1.1.1 0); Idle -> r;
r[0] -> Discard; r[1] -> Discard; r[2] -> Discard;
l :: LookupIP6Route(::/0 ::1 0, 2001:db8::/32 1, 2001:db8::/32 0); Idle -> l; l[0] -> Discard; l[1] -> Discard;
n :: LinearIPLookup(10.0.0.0/8 0); s :: InfiniteSource(LIMIT 2) -> SetIPAddress(1.2.3.4) -> n -> Discard;
c :: Script(wait 0.1, print $(r.table), write r.add 10.0.0.0/8 1.2.3.4 2, write r.set 10.0.0.0/8 3, write r.remove 10.0.0.0/8 0,
  write r.remove 99.0.0.0/8, write r.add 12.0.0.0/8, writeq r.ctrl "del 1", writeq r.ctrl "set 10.0.0.0/8 2
remove 0/0", print $(r.table), print $(l.lookup 2001:db8::1), stop);
//= LinearIPLookup: no route for 1.2.3.4
//= LinearIPLookup: no route for 1.2.3.4
//= 0.0.0.0/0		1.0.0.1		0
//= 10.0.0.0/8		-		1
//= While executing 'c :: Script':
//=   While calling 'r.add 10.0.0.0/8 1.2.3.4 2':
//=     conflict with existing route '10.0.0.0/8 - 1'
//=   While calling 'r.set 10.0.0.0/8 3':
//=     bad OUTPUT
//=   While calling 'r.remove 10.0.0.0/8 0':
//=     route '10.0.0.0/8 - 0' not found
//=   While calling 'r.remove 99.0.0.0/8':
//=     route '99.0.0.0/8 - -1' not found
//=   While calling 'r.add 12.0.0.0/8':
//=     expected 'ADDR/MASK [GATEWAY] OUTPUT'
//=   While calling 'r.ctrl del 1':
//=     bad command 'del'
//= 10.0.0.0/8		-		2
//= 0
