// Elements without a name are called Class@N, counting all elements of the configuration.
InfiniteSource(LIMIT 3, STOP true) -> Counter -> Discard;
//? Counter@2.count
//= 3
