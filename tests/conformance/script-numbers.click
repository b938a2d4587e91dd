// FastClick's functions of numbers: the mean of integers is one, and only numbers are counted.
s :: Script(TYPE PASSIVE);
InfiniteSource(DATA abcdef, LIMIT 1) -> t :: Truncate(2) -> Pad(9, MAXLENGTH 4, VERBOSE true) -> Discard;
DriverManager(print $(s.avg 5 10) $(s.avg 5 10.0) $(s.avg) $(s.count 4 5) $(s.gt_vec 5 0 7) "$(s.gt_vec)", wait 0.1,
  print $(t.nbytes), write t.nbytes 100000, print $(t.nbytes), stop);
//= 7 7.5 2147483647 2 1 0
//= Tried a too long Pad: 2 + 7 > 4 -> adding only 2 bytes
//= 2
//= 100000
//! then
// Integers in any base, up to the first number that is none; where there are floating-point numbers, a leading zero says nothing.
s :: Script(TYPE PASSIVE);
DriverManager(print $(s.add 010 010) $(s.add 010 0.5 010) $(s.div 010 2) $(s.div 0x10 2) $(s.idiv 017 2),
  print $(s.mul 0.5 010) $(s.min 9.5 010) $(s.rem 010 4.0) $(s.mod 010 3) $(s.eq 010 8) $(s.eq 010 10.0) $(s.neg 010), stop);
//= 16 18.5 5 8 8
//= 5 9.5 2 2 true true -8
