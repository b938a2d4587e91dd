// Numbers below 256 are reserved.
Idle -> ESPEncap(255, \<00112233 44556677 8899aabb ccddeeff 01020304>) -> Discard;
//! error SPI must be at least 256
