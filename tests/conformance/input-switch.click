// Only one input's packets pass.
s :: InputSwitch(1) -> d :: Discard;
InfiniteSource(LIMIT 9) -> [0] s;
InfiniteSource(LIMIT 5) -> [1] s;
Script(wait 1, print s.switch, write s.switch 7, print s.switch, write s.config 1, print s.switch, write s.config 2, stop);
//= 1
//= -1
//= 1
//= While executing 'Script@5 :: Script':
//=   While calling 's.config 2':
//=     input must be < 2
//? d.count
//= 5
