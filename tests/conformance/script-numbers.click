// FastClick's functions of numbers: the mean of integers is one, and only numbers are counted.
s :: Script(TYPE PASSIVE);
InfiniteSource(DATA abcdef, LIMIT 1) -> t :: Truncate(2) -> Pad(9, MAXLENGTH 4, VERBOSE true) -> Discard;
DriverManager(print $(s.avg 5 10) $(s.avg 5 10.0) $(s.avg) $(s.count 4 5) $(s.gt_vec 5 0 7) "$(s.gt_vec)", wait 0.1,
  print $(t.nbytes), write t.nbytes 100000, print $(t.nbytes), stop);
//= 7 7.5 2147483647 2 1 0
//= Tried a too long Pad: 2 + 7 > 4 -> adding only 2 bytes
//= 2
//= 100000
