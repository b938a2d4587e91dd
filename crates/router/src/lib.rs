//! Elements, the graph, workers, scheduling, handlers and hot swap.
