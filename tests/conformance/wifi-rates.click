// Rates go down when frames get lost, and up after more than two in a row that were sent once.
r :: AvailableRates(DEFAULT 2 4 11 22);
send :: InfiniteSource(LIMIT 1, ACTIVE false, DATA \<020000000005>)
  -> a :: AutoRateFallback(RT r, STEPUP 2) -> PrintTXFeedback(a) -> Discard;
// What Prism2Decap says of a frame that was sent at 11 Mbit/s, and of one that was lost.
lost :: RatedSource(LIMIT 1, ACTIVE false, DATA \<020000000005>) -> SetTXRate(22, TRIES 6) -> ExtraEncap -> StoreData(12, \<03>) -> ExtraDecap -> back :: Null;
once :: RatedSource(LIMIT 3, ACTIVE false, DATA \<020000000005>) -> SetTXRate(4, TRIES 1) -> ExtraEncap -> StoreData(12, \<01>) -> ExtraDecap -> back;
back -> [1] a;
Script(write a.debug true, write send.active true, wait 0.01, write lost.active true, wait 0.1, write send.reset, wait 0.01,
  write once.active true, wait 1, write send.reset, wait 0.01, stop);
//= a initial rate for 02-00-00-00-00-05 is 22
//= a: 1000000000.000000 02-00-00-00-00-05 flags 0 rate 22 tries 4 rate1 11 tries1 2 rate2 4 tries2 2 rate3 2 tries3 2
//= a stepping down for 02-00-00-00-00-05 from 22 to 4
//= a: 1000000000.110000 02-00-00-00-00-05 flags 0 rate 4 tries 4 rate1 2 tries1 2 rate2 -1 tries2 0 rate3 -1 tries3 0
//= a stepping up for 02-00-00-00-00-05 from 4 to 11
//= a: 1000000001.120000 02-00-00-00-00-05 flags 0 rate 11 tries 4 rate1 4 tries1 2 rate2 2 tries2 2 rate3 -1 tries3 0
//? a.rates
//= 02-00-00-00-00-05 11 0
//! then
// By periods: ten of them with hardly a frame sent again are a step up, one in which all get lost is a step down. Pulled this time.
r :: AvailableRates(DEFAULT 2 4 11 22 36);
RatedSource(RATE 1, LIMIT 1, DATA \<020000000005>) -> Queue -> m :: MadwifiRate(RT r, PERIOD 1000) -> Unqueue -> PrintTXFeedback(m) -> Discard;
RatedSource(RATE 100, LIMIT 1100, DATA \<020000000005>) -> SetTXRate(22, TRIES 1) -> back :: Null -> [1] m;
lost :: RatedSource(LIMIT 1, ACTIVE false, DATA \<020000000005>)
  -> SetTXRate(36, TRIES 10) -> ExtraEncap -> StoreData(12, \<03>) -> ExtraDecap -> back;
Script(write m.debug true, wait 11.5, write lost.active true, wait 0.1, print $(m.rates), wait 1, stop);
//= m: 1000000000.000000 02-00-00-00-00-05 flags 0 rate 22 tries 4 rate1 11 tries1 2 rate2 4 tries2 2 rate3 2 tries3 2
//= m stepping up for 02-00-00-00-00-05 from 22 to 36
//= m packet failed 02-00-00-00-00-05 rate 36
//= 02-00-00-00-00-05 36 successes 0 failures 1 retries 4 credits 0
//= m stepping down for 02-00-00-00-00-05 from 36 to 22
//! then
// The fastest rate while nothing is known, then the one that is known to be of use, for as long as that is remembered.
r :: AvailableRates(DEFAULT 2 22);
send :: InfiniteSource(LIMIT 1, ACTIVE false, DATA \<020000000005>) -> p :: ProbeTXRate(RT r, WINDOW 1000) -> PrintTXFeedback(p) -> Discard;
RatedSource(LIMIT 1, DATA \<ffffffffffff>) -> p;
back :: RatedSource(LIMIT 2, RATE 1000, ACTIVE false, DATA \<020000000005>) -> SetTXRate(2, TRIES 1) -> ExtraEncap -> ExtraDecap -> [1] p;
Script(wait 0.01, write send.active true, wait 0.01, write back.active true, wait 0.01, write send.reset, wait 0.01, print $(p.rates), wait 2,
  write send.reset, wait 0.01, stop);
//= p: 1000000000.000000 FF-FF-FF-FF-FF-FF flags 0 rate 2 tries 0 rate1 -1 tries1 0 rate2 -1 tries2 0 rate3 -1 tries3 0
//= p: 1000000000.010000 02-00-00-00-00-05 flags 0 rate 22 tries 4 rate1 22 tries1 2 rate2 -1 tries2 0 rate3 -1 tries3 0
//= p: 1000000000.030000 02-00-00-00-00-05 flags 0 rate 2 tries 4 rate1 2 tries1 2 rate2 -1 tries2 0 rate3 -1 tries3 0
//= 02-00-00-00-00-05
//=  2 success 2 fail 0 tries 2 perfect_usecs 12816 total_usecs 25632 average_usecs 12816 average_tries 1.000000
//=  22 success 0 fail 0 tries 0 perfect_usecs 1810 total_usecs 0 average_usecs 0 average_tries 0
//= p: 1000000002.040000 02-00-00-00-00-05 flags 0 rate 22 tries 4 rate1 22 tries1 2 rate2 -1 tries2 0 rate3 -1 tries3 0
//! then
r :: AvailableRates;
Idle -> p :: ProbeTXRate(RT r) -> Discard; Idle -> [1] p;
//! error WINDOW must be > 0
