// Parameters with keywords, the rest of the arguments, variables that hide others, and arguments that mention the variables outside.
define($n 9);
elementclass Inner { $n, __REST__ $rest | input -> Paint($n, $rest) -> output };
elementclass Outer { $n, COLOR $c | input -> first :: Inner($c, ANNO 17) -> second :: Inner($n) -> output };
InfiniteSource(LIMIT 1, STOP true) -> o :: Outer(5, COLOR 4) -> p :: Paint($n) -> Discard;
//? o/first/Paint@1.color
//= 4
//? o/second/Paint@1.color
//= 5
//? p.color
//= 9
