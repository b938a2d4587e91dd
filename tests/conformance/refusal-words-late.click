// What elements find wrong about others is said in Click's words.
Idle -> ToDump(/dev/null, USE_ENCAP_FROM i) -> Discard; i :: Idle -> d :: Discard;
//! error 'i' has no 'encap' read handler
