// A copy has what was stripped from the packet, too, so that Unstrip brings it back.
InfiniteSource(DATA \<01020304 05060708 090a0b0c 0d0e0f10>, LIMIT 1, STOP true) -> Strip(6) -> t :: Tee;
t[0] -> Unstrip(6) -> Print(a) -> Discard;
t[1] -> Unstrip(6) -> Print(b) -> Discard;
//= a:   16 | 01020304 05060708 090a0b0c 0d0e0f10
//= b:   16 | 01020304 05060708 090a0b0c 0d0e0f10
