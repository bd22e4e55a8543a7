#pragma once

#include "src/tracer/thread_state.hpp"
#include "src/tracer/watched_calls.hpp"

namespace deepjit::tracer {

// What the nodes of graphs hold. Facts about CUPTI 13.0, seen on an H200: a node's id is its graph's id and
// an index; an executable graph has nodes of its own, cloned from the graph's, and its kernel records name
// those; GRAPHNODE_CREATED comes inside the call that adds or captures the node, but also for each clone.

/// A call that adds or changes a node begins: saves what the node will hold in `open`.
void on_graph_call_begins(ThreadState& state, OpenCall& open, const WatchedCall& call,
                          const void* raw) noexcept;
/// The call has succeeded.
void on_graph_call_succeeded(const OpenCall& open, const WatchedCall& call, const void* raw) noexcept;

/// CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED.
void on_graph_node_created(const CUpti_GraphData& data) noexcept;
/// CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED.
void on_graph_node_cloned(const CUpti_GraphData& data) noexcept;
/// CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED: `node` of another graph lends its contents to `originalNode` of an
/// executable graph, for each node whose contents differ.
void on_exec_node_updated(const CUpti_GraphData& data) noexcept;
/// CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS: `node` of an executable graph has new contents.
void on_exec_node_set(const CUpti_GraphData& data) noexcept;

} // namespace deepjit::tracer
