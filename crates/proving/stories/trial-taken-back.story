# Configurations that nothing confirms are taken back while connections go on: queues that only the trial had, a smaller table, other workers, another
# kind of filter. What ran before has its connections again, those that began in the trial among them.
family firewall
seed 4
workers 3
vector 32
flow a 10.0.2.10 udp count 40 size 64 gap 500us ttl 64 ports 2000 7
flow b 10.0.1.10 tcp count 40 size 500 gap 500us ttl 64 ports 3200 80
flow b2 2001:db8:1::b ping count 40 size 64 gap 500us ttl 64 ports 2001 7
wait 1ms
trial wall tap 2 2ms
flow a2 2001:db8:2::b tcp count 20 size 500 gap 200us ttl 64 ports 3100 80
trial wall keep 1 3ms
trial wall exit 2 1ms
trial wall capacity 1 2ms
wrong wall state
trial wall tap 1 500us
wait 5ms
flow b 10.0.1.10 udp count 20 size 64 gap 500us ttl 64 ports 7 2000
