# An interface returns under another number and vanishes again before a packet leaves by it.
family firewall
seed 210075
workers 1
vector 1
device wall 1 gone
flow a2 2001:db8:2::b ping count 1 size 64 gap 1ms ttl 64 ports 2000 7
device wall 1 anew
device wall 1 gone
