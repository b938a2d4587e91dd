//! The Click configuration language: text to configuration graph.
