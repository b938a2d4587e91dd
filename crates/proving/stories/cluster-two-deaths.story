# The node that acts for one that has left dies together with its own successor: the one that is left and knows of it acts for it.
family cluster-nat
seed 1
workers 2
vector 32
wait 400ms
write n0 vlb.drain
wait 3600ms
restart n1 workers 1
restart n2 workers 1
wait 3600ms
flow h0 10.0.2.2 udp count 10 size 64 gap 5ms ttl 64 ports 2001 7
flow h1 10.0.3.2 ping count 10 size 64 gap 5ms ttl 64 ports 2002 7
