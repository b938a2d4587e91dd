// Keys of Click's IPsec have 16 octets, and what is wrong with them is said without them.
Idle -> r :: RadixIPsecLookup(0/0 0, 10.0.0.0/8 192.0.2.1 0 234 secret \<112233EE556677888877665544332211> 300 64) -> Discard;
//! error argument 2 ENCRYPT_KEY: key has bad length, 16 octets are needed
