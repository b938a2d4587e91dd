// How busy workers are: global handlers that FastClick has, with a number for each worker, or that of one.
RatedSource(RATE 100) -> Discard;
Script(wait 1, print $(ge $(add $(load)) 0) $(le $(load 0) 1) $(ge $(add $(useful_kcycles)) $(useful_kcycles 0)), print $(load 99), stop);
//= true true true
//= While executing 'Script@3 :: Script':
//=   no worker '99'
