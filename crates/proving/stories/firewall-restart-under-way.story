# An answer that is under way when the firewall is restarted is let pass only if the next question comes there first.
family firewall
seed 910260
workers 1
vector 1
flow b 2001:db8:1::b ping count 22 size 64 gap 50us ttl 64 ports 2000 7
restart wall workers 2
