// Eight bytes: nanoseconds since the epoch.
InfiniteSource(DATA \<0102>, LIMIT 1) -> SetTimestamp(0.000000258) -> StoreTimestamp(TAIL true)
  -> Print -> Counter(COUNT_CALL 1 stop) -> Discard;
//=   10 | 01020201 00000000 0000
