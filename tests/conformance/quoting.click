// The quoting rules of configuration strings: double quotes, single quotes, hexadecimal data, a comma in quotes.
InfiniteSource(DATA "a,b", LIMIT 1, STOP true) -> Print("x, y") -> Discard;
InfiniteSource(DATA \<41 42>, LIMIT 1) -> Print('q') -> Discard;
//= x, y:    3 | 612c62
//= q:    2 | 4142
