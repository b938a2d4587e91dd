// Routes need their outputs.
Idle -> LookupIP6Route(::/0 0, 2001:db8::/32 2) -> Discard;
//! error need 3 or more output ports
