// The machine's firewall is not the router's business.
KernelFilter(drop dev eth0);
//! error KernelFilter
