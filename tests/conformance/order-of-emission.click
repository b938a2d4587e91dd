//! workers 1
// PaintTee sends its copy first; each packet is followed to its end before the next.
InfiniteSource(DATA x, LIMIT 2, STOP true) -> Paint(1) -> t :: PaintTee(1) -> Print(packet) -> Discard;
t[1] -> Print(copy) -> Discard;
//= copy:    1 | 78
//= packet:    1 | 78
//= copy:    1 | 78
//= packet:    1 | 78
