// Routes that came, or changed, while the router ran go on in the next one unless it has others for them; those of the configuration go with it.
Idle -> r :: RadixIPLookup(1.0.0.0/8 0, 2.0.0.0/8 0, 3.0.0.0/8 0); r[0], r[1] => Discard, Discard;
Idle -> l :: LinearIPLookup(1.0.0.0/8 0); l[0], l[1] => Discard, Discard;
Idle -> d :: DirectIPLookup(1.0.0.0/8 0); d[0], d[1] => Discard, Discard;
Idle -> g :: RangeIPLookup(1.0.0.0/8 0); g[0], g[1] => Discard, Discard;
Idle -> s :: LookupIP6Route(2001::/16 0); s[0], s[1] => Discard, Discard;
Script(write r.set 2.0.0.0/8 1, write r.add 3.1.0.0/16 1, write r.load $DIR/more 1, write l.add 4.0.0.0/8 1,
  write d.add 4.0.0.0/8 1, write g.add 4.0.0.0/8 1, write s.add 2004::/16 1, stop);
//< more 4.0.0.0/8
//! swap
Idle -> r :: RadixIPLookup(3.0.0.0/8 1, 4.0.0.0/8 9.9.9.9 0); r[0], r[1] => Discard, Discard;
Idle -> l :: LinearIPLookup; l[0], l[1] => Discard, Discard;
Idle -> d :: DirectIPLookup; d[0], d[1] => Discard, Discard;
Idle -> g :: RangeIPLookup; g[0], g[1] => Discard, Discard;
Idle -> s :: LookupIP6Route(2005::/16 0); s[0], s[1] => Discard, Discard;
Script(stop);
//? r.table
//= 3.0.0.0/8		-		1
//= 4.0.0.0/8		9.9.9.9		0
//= 2.0.0.0/8		-		1
//= 3.1.0.0/16		-		1
//? l.table
//= 4.0.0.0/8		-		1
//? d.table
//= 4.0.0.0/8		-		1
//? g.table
//= 4.0.0.0/8		-		1
//? s.table
//= # Active routes
//= 2005::/16	::	0
//= 2004::/16	::	1
//! swap
// What the second configuration had is gone with it, although it came later in the first one.
Idle -> r :: RadixIPLookup; r[0], r[1] => Discard, Discard;
Script(stop);
//? r.table
//= 2.0.0.0/8		-		1
//= 3.1.0.0/16		-		1
//! swap
// A route to an output that is gone is lost, unless there is another one in its place.
Idle -> r :: RadixIPLookup(2.0.0.0/8 0) -> Discard;
Script(stop);
//= r: 1 routes lost (their output is gone)
//? r.table
//= 2.0.0.0/8		-		0
