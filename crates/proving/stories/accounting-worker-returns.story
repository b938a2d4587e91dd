# A worker that comes back after a configuration in which it had no instance numbers its messages as before: a collector takes a gap for loss.
family accounting
seed 1341
workers 2
vector 1
flow a fd00::14 ping count 4 size 3000 gap 1ms ttl 64 ports 2001 80
wait 10ms
capture meter pcapng
capture meter none
flow a fd00::14 tcp count 1 size 64 gap 1ms ttl 64 ports 2001 80
