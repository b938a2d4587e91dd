// What is no TCP port is refused as Click refuses it.
ControlSocket(TCP, nonsense);
//! error PORT requires TCP port
//! then
ControlSocket(TCP);
//! error PORT: required argument missing
