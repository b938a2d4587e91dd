# Flows end whose ports a swap no longer gives: they go on with others.
family nat
seed 1
workers 2
vector 32
flow a 203.0.113.1 udp count 40 size 64 gap 1ms ttl 64 ports 2001 7
flow a2 198.51.100.5 ping count 40 size 64 gap 1ms ttl 64 ports 2002 7
flow a 203.0.113.9 tcp count 40 size 64 gap 1ms ttl 64 ports 2003 443
wait 10ms
swap nat range 1
wait 10ms
swap nat range 2
wait 40ms
