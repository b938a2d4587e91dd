# An announcement waits for a worker that is held, and so do packets for the old address: those are lost, and no more.
family filter
seed 30011
workers 3
vector 1
flow b2 10.0.0.11 udp count 1 size 64 gap 1ms ttl 64 ports 1024 7
wait 1ms
stall wall worker 0 10ms
move a2
flow b2 10.0.0.11 udp count 1 size 64 gap 1ms ttl 64 ports 1024 1024
