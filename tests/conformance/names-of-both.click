// A name that stands for an address and a prefix means the address in routes, unless it says otherwise; before a slash it always does.
AddressInfo(gate 1.2.3.4/24, net 10.0.0.0/8, six 2001:db8::1/64, seven 2001:db9::/32, mask ffff:ffff::);
r :: RadixIPLookup(gate 0, gate:ipnet 0, gate/16 0, net 0); Idle -> r -> Discard;
l :: LookupIP6Route(six 0, six:ip6net six 0, six/48 0, seven 0, six/mask 0); Idle -> l -> Discard;
s :: Script(print $(r.table), print $(l.table), write r.remove gate, write l.remove six, print $(r.lookup 1.2.3.4), print $(l.lookup six), stop);
//= 1.2.3.4/32		-		0
//= 1.2.3.0/24		-		0
//= 1.2.0.0/16		-		0
//= 10.0.0.0/8		-		0
//= # Active routes
//= 2001:db8::1/128	::	0
//= 2001:db8::/64	2001:db8::1	0
//= 2001:db8::/48	::	0
//= 2001:db9::/32	::	0
//= 2001:db8::/32	::	0
//= 0
//= 0 2001:db8::1
