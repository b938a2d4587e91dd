// Information that Click's tools need changes nothing.
DevirtualizeInfo(c, n); FlowInfo(c x/x); IPFieldInfo; IPSummaryDumpInfo;
InfiniteSource(LIMIT 2, STOP true) -> n :: Null1 -> Null2 -> Null3 -> Null4 -> Null5 -> Null6 -> Null7 -> Null8 -> c :: Counter -> Discard;
//? c.count
//= 2
