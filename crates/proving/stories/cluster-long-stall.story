# A node says nothing for longer than HOLD: the others give it up, and take it back.
family cluster
seed 210016
workers 1
vector 1
stall n2 worker 0 80ms
wait 500ms
flow h1 10.0.2.2 ping count 5 size 500 gap 1ms ttl 64 ports 13413 7
