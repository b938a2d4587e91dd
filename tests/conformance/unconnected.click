// A port that has to be connected is not.
InfiniteSource -> c :: Classifier(0/00, -); c[1] -> Discard;
//! error output 0
