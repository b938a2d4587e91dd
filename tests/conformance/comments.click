/* a comment
   of two lines */
InfiniteSource(LIMIT /* here, too */ 2, STOP true) // to the end of the line
  -> c :: Counter -> Discard;
//? c.count
//= 2
