// The status of a write that changes an argument says whether it could not be read, or what was read was refused.
d :: SetIPDSCP(1); q :: Queue(5); Idle -> d -> q -> Idle; i :: IPFilter(allow all); Idle -> i -> Discard;
s :: InfiniteSource(LIMIT 0) -> Discard;
Script(write d.dscp x, print "dscp x $?", write d.dscp 64, print "dscp 64 $?", write d.config x, print "config x $?",
       write d.config 64, print "config 64 $?", write q.capacity x, print "capacity $?", write i.config nonsense, print "filter $?",
       write s.limit x, print "limit $?", write d.dscp 2, print "fine $?", stop);
//= While executing 'Script@10 :: Script':
//=   While calling 'd.dscp x':
//=     DSCP: invalid number
//= dscp x -1
//=   While calling 'd.dscp 64':
//=     diffserv code point out of range
//= dscp 64 -22
//=   While calling 'd.config x':
//=     DSCP: invalid number
//= config x -1
//=   While calling 'd.config 64':
//=     diffserv code point out of range
//= config 64 -22
//=   While calling 'q.capacity x':
//=     CAPACITY: invalid number
//= capacity -1
//=   While calling 'i.config nonsense':
//=     pattern 0: unknown slot ID 'nonsense'
//= filter -1
//=   While calling 's.limit x':
//=     limit parameter must be integer
//= limit -22
//= fine 0
