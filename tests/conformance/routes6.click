// LookupIP6Route takes what other tables refuse: a route that is there already is replaced, one that is not may be removed.
//! workers 1
l :: LookupIP6Route(::/0 fe80::1 0, 2001:db8::/32 1, 2001:db8:1::/48 ::0 0); Idle -> l; l[0] -> Discard; l[1] -> Discard;
e :: LookupIP6Route(::/0 0); Idle -> e -> Discard;
c :: Script(print $(l.table), write l.remove 2001:db8:7::/48, write l.remove ::/0, write l.add 2001:db8:1::/48 fe80::2 1,
  print $(l.table), writeq l.ctrl "add 2001:db8:2::/48 1", writeq l.ctrl "del 1", write l.add ::/0 2,
  print $(l.lookup 2001:db8:2::1), print $(l.lookup 2001:db8:1::1), write e.remove ::/0, print $(e.table), stop);
//= # Active routes
//= ::/0	fe80::1	0
//= 2001:db8::/32	::	1
//= 2001:db8:1::/48	::	0
//= # Active routes
//= 2001:db8:1::/48	fe80::2	1
//= 2001:db8::/32	::	1
//= While executing 'c :: Script':
//=   While calling 'l.ctrl del 1':
//=     bad command, should be `add' or `remove'
//=   While calling 'l.add ::/0 2':
//=     output port out of range
//= 1
//= 1 fe80::2
//= # Active routes
