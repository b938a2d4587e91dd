# An interface vanishes and returns, once as itself and once under another number; what is sent after that arrives.
family ip-router
seed 1
workers 2
vector 32
flow a 10.0.1.10 udp count 20 size 64 gap 100us ttl 64 ports 2001 7
wait 1ms
device r0 0 gone
wait 1ms
device r0 0 back
wait 6s
flow a 2001:db8:1::a udp count 20 size 64 gap 100us ttl 64 ports 2001 7
wait 1ms
device r0 1 gone
wait 500us
swap r0 tap 2
wait 500us
device r0 1 anew
wait 6s
flow a2 10.0.1.11 ping count 20 size 64 gap 100us ttl 64 ports 2001 7
flow b 10.0.0.10 ping count 20 size 64 gap 100us ttl 64 ports 2003 7
