# A restart loses the answer to a question for a neighbour. What waits for it arrives when it is asked again, a second later.
family queues
seed 2029
workers 1
vector 1
knob shaper 6
flow b 10.0.0.10 tcp count 1 size 64 gap 1ms ttl 64 ports 47970 7
restart cable workers 3
flow b 10.0.0.10 ping count 3 size 64 gap 1ms ttl 64 ports 50180 7
