//! Captures: what is written is read back, what others write is read right, what is damaged is reported.

mod compression;
mod damage;
mod fixture;
mod linktype;
mod pcapng;
mod roundtrip;
mod tshark;
