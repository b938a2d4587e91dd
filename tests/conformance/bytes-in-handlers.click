// Bytes that are no text pass through arguments, scripts' values and handlers as they are.
s :: InfiniteSource(DATA \<00ff80c3a9>, LIMIT 1, ACTIVE false) -> Print(a, CONTENTS HEX) -> Discard;
Script(set x $(s.data), print $(length $x), print $(eq "$x" "\<00ff80c3a9>"), print $(eq "$x" "\<00ff80c3aa>"),
       write s.data $x, writeq s.data "$x\<ff>", print $(length $(s.data)), write s.active true, wait 1, stop);
//= 5
//= true
//= false
//= 6
//= a:    6 | 00ff80c3 a9ff
