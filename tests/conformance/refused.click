// An Error element keeps the router from starting.
InfiniteSource -> Error(not yet) -> Discard;
//! error an Error element never initializes
