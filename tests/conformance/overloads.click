// A class with several definitions: the one that fits the arguments and ports is taken.
elementclass Either { $a | input -> Paint($a) -> output || $a, $b | input -> Paint($a) -> Paint($b) -> output };
InfiniteSource(LIMIT 1, STOP true) -> one :: Either(7) -> Discard;
//? one/Paint@1.color
//= 7
