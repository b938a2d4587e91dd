// A library's classes and definitions are there from where it is required; it is read once, however often it is asked for.
//< lib.click elementclass Twice { input -> Paint($first) -> Tag -> output };
//< lib.click define($first 3);
//< lib.click elementclass Tag { input -> output };
//< other.click require(library lib.click); elementclass Tag2 { input -> Tag -> output };
elementclass Tag { input -> output };
require(library lib.click); require(library other.click, library lib.click);
InfiniteSource(LIMIT 2, STOP true) -> t :: Twice -> Tag2 -> c :: Counter -> Discard;
//? c.count
//= 2
//? t/Paint@1.config
//= 3
//! then
require(library missing.click);
Idle -> Discard;
//! error library 'missing.click' not found
