// Bits that a mask leaves out stay as they are; packets that are too short become longer only if that is said.
InfiniteSource(DATA abcdef, LIMIT 1) -> StoreData(3, \<ff ff>, \<80>) -> Print -> StoreData(5, xyz) -> Print
  -> StoreData(5, XYZ, GROW true) -> Print -> Discard; Script(wait 0.1, stop);
//=    6 | 616263e4 ff66
//=    6 | 616263e4 ff78
//=    8 | 616263e4 ff58595a
