// What has no effect here is checked all the same.
BalancedThreadSched(soon);
//! error While configuring 'BalancedThreadSched@1 :: BalancedThreadSched'
//! error INTERVAL: invalid number
//! then
BalancedThreadSched(10, maybe)
//! error INCREASING: parse error
//! then
BalancedThreadSched(10, true, 3)
//! error too many arguments
