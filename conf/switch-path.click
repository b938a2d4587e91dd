// A switch that a counter turns: the first hundred packets go one way, all others another.
//
//   clique run conf/switch-path.click -h first.count -h second.count

InfiniteSource(LIMIT 250, STOP true) -> c :: Counter(COUNT_CALL 100 s.switch 1) -> s :: Switch(0);
s[0] -> first :: Counter -> Discard;
s[1] -> second :: Counter -> Discard;

//? first.count
//= 99
//? second.count
//= 151
