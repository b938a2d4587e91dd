// What a handler warns of is told to the script that writes, in its place, and the write has not failed.
u :: InfiniteSource(LIMIT 0) -> f :: IPFilter(allow all, 1 all) -> Discard; f[1] -> Discard;
Script(write u.tickets 0, print "$? $(u.tickets)", write f.config deny all, print $?, stop);
//= While executing 'Script@5 :: Script':
//=   While calling 'u.tickets 0':
//=     warning: tickets pinned at 1
//= 0 1
//=   While calling 'f.config deny all':
//=     warning: pattern 0: meaning of 'deny' has changed (now it means 'drop')
//= 0
