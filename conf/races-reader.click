// A reader looks address 1.0.0.1 up while one writer adds and removes its route, and another a route to a different
// address. The reader may find the route (gateway 9.0.0.1) or the default route (9.0.0.9), and nothing else: were a route's
// place used again at once, it would find the other address' now and then (9.0.0.2).
//
//   clique run -j 3 conf/races-reader.click

Idle -> r :: RadixIPLookup(0/0 9.0.0.9 0) -> Idle;

writer0 :: PoundRadixIPLookup(r, 129.0.0.1/32, 9.0.0.2, LIMIT 2000, STOP true);
writer1 :: BashRadixIPLookup(r, 1.0.0.1/32, 9.0.0.1, LIMIT 2000, STOP true);
reader :: ReadRadixIPLookup(r, 1.0.0.1, 9.0.0.1, 9.0.0.9, LIMIT 2000, STOP true);

StaticThreadSched(writer0 0, writer1 1, reader 2);

DriverManager(pause 3, print reader.wrong, stop);

//! workers 1 2 3
//= 0
//? reader.count
//= 2000
//? reader.wrong
//= 0
//? r.length
//= 1
