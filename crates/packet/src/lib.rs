//! Packet buffers, per-worker pools, batches and annotations.
