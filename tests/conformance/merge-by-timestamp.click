// The earliest packet comes first.
InfiniteSource(DATA a, LIMIT 1) -> SetTimestamp(5) -> Queue -> [0] m :: MergeByTimestamp(STOP true);
InfiniteSource(DATA b, LIMIT 1) -> SetTimestamp(4) -> Queue -> [1] m; m -> u :: Unqueue(ACTIVE false) -> Print(CONTENTS ASCII) -> Discard;
Script(wait 1, write u.active true);
//=    1 |  b
//=    1 |  a
