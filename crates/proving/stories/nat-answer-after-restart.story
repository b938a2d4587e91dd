# A gateway begins anew, and a worker of it is held: an answer comes before the next packet from inside, and finds no mapping.
family nat
seed 62088
workers 1
vector 1
flow web 203.0.113.1 ping count 22 size 16 gap 50us ttl 64 ports 2005 443
restart nat workers 4
stall nat worker 0 200us
