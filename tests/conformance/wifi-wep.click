// WEP: a frame that another implementation has encrypted, under the network's first key; with the third it is left alone.
InfiniteSource(LIMIT 1, STOP true, DATA \<08410000 020000000001 020000000005 020000000009 1000
    112233002c2c4e276834da6833204566fa4d07f966>)
  -> other :: WepDecap(\<0102030405>, 2) -> Print(other, 2) -> WepDecap(\<0102030405>) -> Print(clear, -1) -> WifiDecap -> Print(text, CONTENTS ASCII) -> Discard;
//= other:   45 | 0841
//= clear:   37 | 08010000 02000000 00010200 00000005 02000000 00091000 aaaa0300 00000800 68656c6c 6f
//= text:   19 |  ........ ......he llo
//? other.keyid
//= 2
//! then
// There and back: eight bytes more on the air. With the wrong key nothing comes out; beacons are not encrypted.
w :: WirelessInfo(BSSID 2:0:0:0:0:1);
InfiniteSource(LIMIT 1, DATA \<020000000009 020000000005 0800 68656c6c6f>)
  -> WifiEncap(1, WIRELESS_INFO w) -> e :: WepEncap("abcde", ACTIVE true, KEYID 1) -> CheckLength(45) -> t :: Tee
  -> WepDecap("abcde", KEYID 1) -> Print(back, -1) -> Discard;
t[1] -> wrong :: WepDecap("abcdf", KEYID 1) -> Print(wrong, -1) -> Discard;
TimedSource(0.05, LIMIT 1, DATA \<80000000 ffffffffffff 020000000001 020000000001 1000 00>) -> e;
Script(wait 0.1, stop);
//= back:   37 | 08010000 02000000 00010200 00000005 02000000 00090000 aaaa0300 00000800 68656c6c 6f
//= back:   25 | 80000000 ffffffff ffff0200 00000001 02000000 00011000 00
//= wrong:   25 | 80000000 ffffffff ffff0200 00000001 02000000 00011000 00
//? wrong.drop_reasons
//= 1	wrong checksum
//! then
Idle -> WepEncap("more than sixteen") -> Discard;
//! error KEY must have at most 16 bytes
