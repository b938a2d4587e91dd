# A balancer that begins anew knows no flow: what comes back of one that asked before finds none.
family balancer
seed 62005
workers 1
vector 1
flow c3 203.0.113.10 tcp count 19 size 16 gap 50us ttl 64 ports 26254 80
restart lb workers 1
