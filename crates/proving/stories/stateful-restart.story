# A firewall begins anew: answers that come before who asked has sent again find no flow.
family stateful
seed 210063
workers 1
vector 1
flow a2 10.0.0.13 tcp count 22 size 64 gap 50us ttl 64 ports 2006 53
restart wall workers 3
