# A node drains that has translated single packets: what follows them looks the same at the one that goes on.
family cluster-nat
seed 1
workers 1
vector 32
flow h0 10.0.2.2 udp count 1 size 64 gap 1ms ttl 64 ports 2001 80
flow h0 10.0.3.2 udp count 1 size 64 gap 1ms ttl 64 ports 2002 80
wait 400ms
write n0 vlb.drain
wait 3600ms
flow h0 10.0.2.2 udp count 1 size 64 gap 1ms ttl 64 ports 2001 80
flow h0 10.0.3.2 udp count 1 size 64 gap 1ms ttl 64 ports 2002 80
