# Servers are tried for a moment: flows of one that goes again end, with the answers that are under way.
family balancer
seed 310012
workers 1
vector 1
knob set 4
flow c2 203.0.113.10 tcp count 2 size 16 gap 1ms ttl 64 ports 55186 80
wait 1ms
trial lb set 1 2us
