// Into a queue and out of it.
define($LIMIT 1);
InfiniteSource(LENGTH 60, BURST 32, LIMIT $LIMIT, STOP true) -> Queue -> Unqueue(BURST 32) -> Discard;
