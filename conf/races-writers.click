// Two writers on two workers add and remove routes to the same address, through the same table.
// After the same number of rounds each, the table must be whole: every route that was added is gone again.
//
//   clique run -j 2 conf/races-writers.click

Idle -> r :: RadixIPLookup -> Idle;

writer0 :: PoundRadixIPLookup(r, LIMIT 2000, STOP true);
writer1 :: BashRadixIPLookup(r, LIMIT 2000, STOP true);

StaticThreadSched(writer0 0, writer1 1);

DriverManager(pause 2, print r.table, stop);

//=
//? writer0.count
//= 2000
//? writer1.count
//= 2000
//? r.length
//= 0
