// Lines of a preprocessor say where what follows comes from, and messages say it.
# 40 "router.in"
InfiniteSource -> Nonexistent -> Discard;
//! error router.in:40
