# A capture that is replaced before the router's first turn is still a capture, of nothing.
family queues
seed 1
workers 1
vector 1
capture cable pcapng
capture cable none
