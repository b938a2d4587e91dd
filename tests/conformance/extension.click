// `...` extends the definition that the class had before.
elementclass Thing { $a | input -> Paint($a) -> output };
elementclass Thing { $a, $b | input -> Paint($a) -> Paint($b) -> output || ... };
InfiniteSource(LIMIT 1, STOP true) -> one :: Thing(1) -> two :: Thing(2, 3) -> Discard;
//? one/Paint@1.color
//= 1
//? two/Paint@2.color
//= 3
