// What is for other programs, and what a program that is not set-uid need not give up.
ChangeUID(); ClickyInfo("* { background: white }");
InfiniteSource(LIMIT 3, STOP true) -> c :: Counter -> Discard;
//? c.count
//= 3
