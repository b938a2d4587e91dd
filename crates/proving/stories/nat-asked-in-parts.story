# The gateway itself is asked in fragments, on both sides, and answers in some.
family nat
seed 1
workers 2
vector 32
flow a 10.0.0.1 ping count 5 size 3000 gap 50us ttl 64 ports 2001 7
flow x 203.0.113.2 ping count 5 size 3000 gap 50us ttl 64 ports 2001 7 whole
flow a 203.0.113.9 ping count 5 size 3000 gap 50us ttl 64 ports 2001 7
