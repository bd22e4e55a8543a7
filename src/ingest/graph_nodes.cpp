#include "src/ingest/graph_nodes.hpp"

#include <algorithm>

namespace deepjit::ingest {

void GraphNodes::add(const wire::GraphNodeArguments& record) {
    nodes_[record.graph_node_id].arguments_id = record.arguments_id;
}

void GraphNodes::add(const wire::GraphNodeCopyAddresses& record) {
    GraphNodeContents& contents = nodes_[record.graph_node_id];
    contents.copy_source = record.source;
    contents.copy_destination = record.destination;
}

void GraphNodes::add(const wire::GraphNodeClone& record) {
    nodes_[record.graph_node_id] = held(record.original_node_id);
}

void GraphNodes::add(const wire::GraphNodeUpdate& record) {
    Update update{record.time_ns, {}};
    if (record.source_node_id != 0)
        update.contents = held(record.source_node_id);
    else
        update.contents.arguments_id = record.arguments_id;
    updates_[record.graph_node_id].push_back(update);
}

void GraphNodes::add(const wire::GraphExecUpdate& record) {
    const std::uint32_t graph_id = record.graph_id; // packed fields cannot be passed by reference
    const auto [entry, is_new] = unknown_from_ns_.try_emplace(graph_id, record.time_ns);
    if (!is_new) entry->second = std::min<std::int64_t>(entry->second, record.time_ns);
}

GraphNodeContents GraphNodes::held(std::uint64_t node_id) const {
    const auto found = nodes_.find(node_id);
    return found == nodes_.end() ? GraphNodeContents{} : found->second;
}

GraphNodeContents GraphNodes::contents_of(std::uint64_t node_id, std::uint32_t graph_id,
                                          std::int64_t time_ns) const {
    for (const std::uint32_t graph : {graph_id, 0U}) {
        const auto unknown = unknown_from_ns_.find(graph);
        if (unknown != unknown_from_ns_.end() && time_ns >= unknown->second) return {};
    }
    const auto updates = updates_.find(node_id);
    if (updates == updates_.end()) return held(node_id);
    GraphNodeContents contents = held(node_id);
    for (const Update& update : updates->second) // a few, in order; a launch sees the last one before it
        if (update.time_ns <= time_ns) contents = update.contents;
    return contents;
}

} // namespace deepjit::ingest
