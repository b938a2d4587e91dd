//! Small configurations in tests, with this crate's classes and those that its tests need beside them.

#![allow(dead_code, unused_imports)] // each test uses what it needs

elements_testing::harness!(families: crate, elements_analysis, elements_classify, elements_general, elements_net, elements_routing, elements_translation; aliases: elements_analysis, elements_classify, elements_general, elements_net, elements_routing, elements_translation);
