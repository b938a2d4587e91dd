// Elements take new arguments while they run; wrong ones change nothing, and not every class takes them.
//! workers 1
t :: TimedSource(1, DATA abcd) -> p :: Print(a) -> s :: Switch(0); s[0] -> x :: Counter -> Discard; s[1] -> e :: EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> y :: Print -> Discard;
r :: RatedSource(RATE 100) -> Queue -> h :: Shaper(10) -> Unqueue -> z :: Counter -> Discard;
c :: Script(wait 1.5, writeq p.config "b, MAXLENGTH 2", wait 1, write p.config CONTENTS octal, wait 1,
  write s.config 1, writeq e.config "0x86dd, 3:3:3:3:3:3, 4:4:4:4:4:4", write h.config 50, write x.config COUNT_CALL, wait 1,
  print p.config, print s.config, print e.config, print h.rate, stop);
//= a:    4 | 61626364
//= b:    4 | 6162
//= While executing 'c :: Script':
//=   While calling 'p.config CONTENTS octal':
//=     bad contents value 'OCTAL'; should be 'NONE', 'HEX', or 'ASCII'
//= b:    4 | 6162
//= While executing 'c :: Script':
//=   no 'x.config' write handler
//= b:    4 | 6162
//=   18 | 04040404 04040303 03030303 86dd6162 6364
//= b, MAXLENGTH 2
//= 1
//= 0x86dd, 3:3:3:3:3:3, 4:4:4:4:4:4
//= 50
