// A routing table that changes while packets are looked up. Handlers read it and write it:
//
//   clique run conf/lookup.click -h r.table

source :: RatedSource(RATE 1000, DATA \<0a010203>) -> GetIPAddress(0)
  -> r :: IPLookup(10.0.0.0/8 0, 10.1.0.0/16 192.0.2.1 1, 0.0.0.0/0 2);
r[0] -> a :: Counter -> Discard;
r[1] -> b :: Counter -> Discard;
r[2] -> c :: Counter -> Discard;

Script(print "10.1.2.3 goes to $(r.lookup 10.1.2.3)",
       write r.remove 10.1.0.0/16,
       print "now to $(r.lookup 10.1.2.3)",
       wait 0.1,
       write r.set 10.1.2.0/24 2,
       print "now to $(r.lookup 10.1.2.3)",
       stop);

//= 10.1.2.3 goes to 1 192.0.2.1
//= now to 0
//= now to 2
