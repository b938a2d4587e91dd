// DirectIPLookup and RangeIPLookup print their routes in the order of a hash table, the later of two in one chain first.
Idle -> d :: DirectIPLookup(10.0.0.0/8 0, 10.1.0.0/16 1.0.0.2 0, 0/0 1.0.0.1 0, 18.26.4.0/24 0) -> Discard;
Idle -> r :: RangeIPLookup(1.0.0.1/32 0, 18.26.4.0/24 0) -> Discard;
Script(write d.remove 18.26.4.0/24, write d.add 10.0.0.0/16 0, write d.set 10.0.0.0/8 1.0.0.9 0, write r.add 192.168.0.0/16 0, stop);
//? d.table
//= 0.0.0.0/0		1.0.0.1		0
//= 10.0.0.0/16		-		0
//= 10.0.0.0/8		1.0.0.9		0
//= 10.1.0.0/16		1.0.0.2		0
//? r.table
//= 18.26.4.0/24		-		0
//= 1.0.0.1/32		-		0
//= 192.168.0.0/16		-		0
