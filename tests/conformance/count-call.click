// COUNT_CALL triggers a handler when the count is reached, before that packet goes on.
InfiniteSource(LIMIT 10, STOP true) -> c :: Counter(COUNT_CALL 4 s.switch 1) -> s :: Switch(0);
s[0] -> a :: Counter -> Discard;
s[1] -> b :: Counter -> Discard;
//? a.count
//= 3
//? b.count
//= 7
