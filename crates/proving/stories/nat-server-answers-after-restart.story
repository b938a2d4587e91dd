# A gateway begins anew: the server's answer to a question from before is a flow of its own, until the next question comes in.
family nat
seed 210066
workers 1
vector 1
flow p 203.0.113.2 tcp count 21 size 64 gap 50us ttl 64 ports 2001 80
restart nat workers 4
