# A flow begins while the node that its host uses has handed over, and its host learns of the other one: it is translated once.
family cluster-nat
seed 7000661
workers 1
vector 1
wait 1ms
swap n0 tap 0
wait 40ms
write n1 vlb.drain 
wait 10ms
flow h1 10.0.0.2 udp count 12 size 500 gap 1ms ttl 64 ports 2001 7
