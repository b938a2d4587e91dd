# A node begins anew, and the clock leaps before it has heard the others.
family cluster
seed 210053
workers 1
vector 1
knob scheme 1
restart n1 workers 3
leap 200ms
flow h2 10.0.0.2 tcp count 1 size 16 gap 1ms ttl 64 ports 47574 602
