// Packages are part of the program: requiring them changes nothing.
require(package "analysis"); require(linux-test);
InfiniteSource(LIMIT 2, STOP true) -> c :: Counter -> Discard;
//? c.count
//= 2
