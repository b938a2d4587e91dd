// The longest prefix wins; handlers show and change the table.
r :: RadixIPLookup(10.0.0.0/8 0, 10.1.0.0/16 1.2.3.4 1, 0/0 2);
Idle -> r; r[0] -> Discard; r[1] -> Discard; r[2] -> Discard;
Script(print "$(r.lookup 10.1.9.9), $(r.lookup 10.2.9.9), $(r.lookup 9.9.9.9)", write r.remove 10.1.0.0/16, print $(r.lookup 10.1.9.9), stop);
//= 1 1.2.3.4, 0, 2
//= 0
