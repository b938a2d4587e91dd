// An Error element keeps the router from starting, without a word of its own.
InfiniteSource -> Error(not yet) -> Discard; Message(soon, WARNING);
//! error warning: soon
