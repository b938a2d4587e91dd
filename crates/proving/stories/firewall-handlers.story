# All handlers of the firewall and of a router are read while packets pass, also the programs of filters that ask for the states of connections.
family firewall
seed 0
workers 2
vector 32
flow a 10.0.2.10 udp count 10 size 64 gap 100us ttl 64 ports 2000 7
wait 500us
read wall
read router
