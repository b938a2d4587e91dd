// What is refused is refused in Click's words.
Idle -> Counter(COUNT_CALL x stop) -> Counter(BYTE_COUNT_CALL -1 stop) -> AggregateCounter(AGGREGATE_CALL many stop) -> AggregateCounter(COUNT_CALL x stop) -> Align(3, 0)
  -> ToDump(/dev/null, USE_ENCAP_FROM i) -> Discard;
i :: Idle -> Discard;
//! error COUNT_CALL type mismatch
//! error BYTE_COUNT_CALL type mismatch
//! error AGGREGATE_CALL first word should be unsigned (number of aggregates)
//! error COUNT_CALL first word should be unsigned (count)
//! error MODULUS must be 2, 4, or 8
