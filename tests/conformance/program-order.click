// IP classifiers show seven or more values of one field in the order in which Click searches them. Masks need not be prefixes.
f :: IPClassifier(src host 10.0.0.9 or 10.1.0.3 or 10.2.0.12 or 10.3.0.1 or 10.4.0.6 or 10.5.0.250 or 10.6.0.7);
g :: IPFilter(0 src host 10.0.0.9 or 10.0.0.3 or 10.0.0.12, drop all);
m :: IPFilter(0 src 10.0.3.0 mask 255.0.255.0 or dst net 11.0.7.0/255.0.255.0, drop all);
Idle -> f -> Discard;
Idle -> g -> Discard;
Idle -> m -> Discard;
Script(stop);
//? f.program
//=  0 268/0a030001%ffffffff  yes->[0]  no->step 1
//=  1 268/0a010003%ffffffff  yes->[0]  no->step 2
//=  2 268/0a040006%ffffffff  yes->[0]  no->step 3
//=  3 268/0a060007%ffffffff  yes->[0]  no->step 4
//=  4 268/0a000009%ffffffff  yes->[0]  no->step 5
//=  5 268/0a02000c%ffffffff  yes->[0]  no->step 6
//=  6 268/0a0500fa%ffffffff  yes->[0]  no->[X]
//= safe length 272
//= alignment offset 0
//? g.program
//=  0 268/0a000009%ffffffff  yes->[0]  no->step 1
//=  1 268/0a000003%ffffffff  yes->[0]  no->step 2
//=  2 268/0a00000c%ffffffff  yes->[0]  no->[X]
//= safe length 272
//= alignment offset 0
//? m.program
//=  0 268/0a000300%ff00ff00  yes->[0]  no->step 1
//=  1 272/0b000700%ff00ff00  yes->[0]  no->[X]
//= safe length 275
//= alignment offset 0
