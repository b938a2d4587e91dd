// There is no kernel module to talk to.
KernelHandlerProxy();
//! error KernelHandlerProxy
