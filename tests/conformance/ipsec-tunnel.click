// A tunnel through Click's own IPsec elements: what is sent, what comes again, what was changed, what is not for the tunnel. Keys may be strings or
// hexadecimal digits, as older configurations have them, and no handler says them.
s :: InfiniteSource(DATA 1234, LIMIT 1) -> IPEncap(17, 1.0.0.1, 10.0.2.2) -> r :: RadixIPsecLookup(
  18.26.4.24/32 0,
  18.26.4.1 3,
  10.0.2.0/24 18.26.4.24 1 234 ABCDEFFF001DEFD2354550FE40CD708E \<112233EE556677888877665544332211> 300 64,
  10.0.3.0/24 - 4 235 "ABCDEFFF001DEFD2" ABCDEFFF001DEFD2 1 255,
  10.0.3.0/24 2,
);
r[0] -> MarkIPHeader -> StripIPHeader -> IPsecAES(0) -> a :: IPsecAuthHMACSHA1(1) -> u :: IPsecESPUnencap -> CheckIPHeader -> Print(back)
  -> here :: { input -> StoreIPAddress(18.26.4.24, 16) -> GetIPAddress(16) -> Print(local, 0) -> output } -> [0]r;
a[1] -> Print(changed, 8) -> Discard;
r[1] -> IPsecESPEncap() -> Print(esp, 8) -> IPsecAuthHMACSHA1(0) -> e :: IPsecAES(1) -> IPsecEncap(50) -> Print(sent, 20) -> t :: Tee(4);
t[0] -> r;
t[1] -> StoreData(60, \<00>) -> StoreData(61, \<00>) -> r;
t[2] -> r;
t[3] -> StoreData(23, \<05>) -> r;
r[2] -> Print(self, 0) -> Discard;
r[3] -> Discard;
r[4] -> Discard;
Script(wait 1, stop);
//= esp:   48 | 000000ea 0000012c
//= sent:   80 | 45000050 00000000 fa32aa4a 00000000 121a0418
//= back:   24 | 45000018 00000000 fa11b3d2 01000001 0a000202 31323334
//= local:   24
//= self:   24
//= Invalid SHA1 authentication digest
//= changed:   60 | 000000ea 0000012c
//= Invalid SPI 5, Dropping packet
//? r.drop_reasons
//= 1	no association has its SPI
//? u.drop_reasons
//= 1	has come before
//? a.drops
//= 1
//? r.table
//= 18.26.4.24/32		-		0
//= 18.26.4.1/32		-		3
//= 10.0.2.0/24		18.26.4.24	1	spi 234 sent 1 received 300
//= 10.0.3.0/24		-		4	spi 235 sent 0 received 0
