// Click's IPsec elements without a table, as their documentation has them: the parameter index and the key of DES are arguments.
InfiniteSource(DATA 1234, LIMIT 2) -> IPEncap(17, 1.0.0.1, 2.0.0.2)
  -> IPsecESPEncap(0x101) -> Print(esp, 8) -> IPsecAuthSHA1(0) -> t :: Tee(3);
t[0] -> IPsecDES(1, \<01234567 89abcdef>) -> IPsecDES(0, 0123456789abcdef) -> v :: IPsecAuthSHA1(1) -> IPsecESPUnencap -> Print(back) -> Discard;
v[1] -> Print(never) -> Discard;
t[1] -> StoreData(20, \<ff>) -> w :: IPsecAuthSHA1(1) -> Print(never) -> Discard;
w[1] -> Print(changed, 4) -> Discard;
t[2] -> Truncate(27) -> d :: IPsecDES(0, 0123456789abcdef) -> Print(never) -> Discard;
InfiniteSource(DATA 1234, LIMIT 1) -> n :: IPsecESPEncap -> Print(never) -> Discard;
Script(wait 1, stop);
//= esp:   48 | 00000101 00000001
//= back:   24 | 45000018 00000000 fa11bdd2 01000001 02000002 31323334
//= Invalid SHA1 authentication digest
//= changed:   60 | 00000101
//= esp:   48 | 00000101 00000002
//= back:   24 | 45000018 00010000 fa11bdd1 01000001 02000002 31323334
//= changed:   60 | 00000101
//? w.drops
//= 2
//? d.drop_reasons
//= 2	too short
//? n.drop_reasons
//= 1	no such association
