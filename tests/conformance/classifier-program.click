// Classifier explains its decision program.
Idle -> c :: Classifier(12/0800, -);
c[0] -> Discard; c[1] -> Discard;
Script(stop);
//? c.program
//=  0  12/08000000%ffff0000  yes->[0]  no->[1]
//= safe length 14
//= alignment offset 0
