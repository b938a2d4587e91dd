// FastClick's classifiers look for strings and regular expressions anywhere in packets.
InfiniteSource(DATA "a text", LIMIT 3) -> sm :: StringMatcher(word, text) -> plain :: Counter -> Discard;
InfiniteSource(DATA "none", LIMIT 4) -> sm;
sm[1] -> found :: Counter -> Discard;
InfiniteSource(DATA "\<00 ff>the word \"text\"", LIMIT 2) -> sc :: StringClassifier("text", "xt", word, text);
InfiniteSource(DATA "a text", LIMIT 3) -> sc;
InfiniteSource(DATA "none", LIMIT 4) -> sc;
sc[0] -> sc0 :: Counter -> Discard; sc[1] -> Discard; sc[2] -> sc2 :: Counter -> Discard; sc[3] -> sc3 :: Counter -> Discard;
InfiniteSource(DATA "\<ff 00>hello 12", LIMIT 5) -> rm :: RegexMatcher("he.*o", "^hello", "[0-9]{2}$") -> any :: Counter -> Discard;
InfiniteSource(DATA "text", LIMIT 2) -> rm; rm[1] -> Discard;
InfiniteSource(DATA "hello 12", LIMIT 3) -> ra :: RegexMatcher("he.*o", MATCH_ALL true, "\\d") -> all :: Counter -> Discard;
InfiniteSource(DATA "hello", LIMIT 4) -> ra; ra[1] -> notall :: Counter -> Discard;
InfiniteSource(DATA "load", LIMIT 2) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 53) -> rp :: RegexMatcher("^E", PAYLOAD_ONLY true) -> Discard;
rp[1] -> inside :: Counter -> Discard;
InfiniteSource(DATA "some text", LIMIT 5) -> rc :: RegexClassifier(net, "s.*t", ".*"); rc[0] -> Discard; rc[1] -> rc1 :: Counter -> Discard;
InfiniteSource(DATA "a net", LIMIT 6) -> rc; rc[2] -> Discard;
InfiniteSource(DATA "some text", LIMIT 5) -> g :: GroupRegexClassifier("some" 1, "nets?" 0, "text" 1, "some" 0);
InfiniteSource(DATA "some nets", LIMIT 2) -> g; InfiniteSource(DATA "nets", LIMIT 4) -> g;
g[0] -> g0 :: Counter -> Discard; g[1] -> g1 :: Counter -> Discard;
s :: Script(wait 1, print rc.pattern1, write rc.pattern1 "a", print rc.pattern1, print rc.config, write rc.pattern1 "(",
  print ra.match_all, write ra.match_all false, print ra.match_all, write ra.match_all maybe,
  print sm.matches, write sm.reset_count, print sm.matches, write sm.config more, print sm.config, stop);
//= "s.*t"
//= "a"
//= net, "a", ".*"
//= While executing 's :: Script':
//=   While calling 'rc.pattern1 "("':
//=     Error (-1) in pattern 1: (
//= true
//= false
//=   While calling 'ra.match_all maybe':
//=     syntax error
//= 3
//= 0
//= more
//? plain.count
//= 4
//? found.count
//= 3
//? sc0.count
//= 3
//? sc2.count
//= 2
//? sc3.count
//= 4
//? sc.matches
//= 5
//? any.count
//= 5
//? all.count
//= 3
//? notall.count
//= 4
//? inside.count
//= 2
//? rc1.count
//= 5
//? g0.count
//= 2
//? g1.count
//= 5
//! then
Idle -> c :: RegexClassifier(a);
c[0] -> Discard; c[1] -> Discard;
//! error need 2 patterns, one per output port
//! then
Idle -> c :: RegexClassifier("(", a);
c[0] -> Discard; c[1] -> Discard;
//! error Error (-1) in pattern 0: (
//! then
Idle -> c :: RegexClassifier("(a{1000}){1000}", b, MAX_REGEX_MEMORY 10000);
c[0] -> Discard; c[1] -> Discard;
//! error Unable to compile, due lack of memory
//! then
Idle -> c :: GroupRegexClassifier(a 0);
c[0] -> Discard; c[1] -> Discard;
//! error Group 1 has no patterns
//! then
Idle -> c :: GroupRegexClassifier(a 0, b 2);
c[0] -> Discard; c[1] -> Discard;
//! error Error with pattern 1, group number is larger then noutputs
//! then
Idle -> c :: StringClassifier(a, "");
c[0] -> Discard; c[1] -> Discard;
//! error Pattern #1 has zero length
//! then
InfiniteSource(DATA "some text", LIMIT 3, STOP true) -> a :: StringMatcherMP(text) -> Discard;
a[1] -> b :: StringClassifierMP("text") -> c :: RegexMatcherMP("s.*t") -> d :: RegexClassifierMP("x") -> e :: GroupRegexClassifierMP("s" 0, "x" 0) -> f :: Discard;
//? f.count
//= 3
