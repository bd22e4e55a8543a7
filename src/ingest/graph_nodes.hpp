#pragma once

#include "src/wire/records.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace deepjit::ingest {

/// What a node of a graph holds; 0 unknown.
struct GraphNodeContents {
    std::uint32_t arguments_id = 0; ///< the recording's
    std::uint64_t copy_source = 0;
    std::uint64_t copy_destination = 0;
};

/// Follows what the nodes of graphs hold. Records are added in the order of the recording, which is that of
/// the calls. A graph's node can be changed before the graph is instantiated again, so a clone takes what its
/// original holds at that moment; a node of an executable graph can be changed between launches, so its
/// contents are asked for by time.
class GraphNodes {
  public:
    void add(const wire::GraphNodeArguments& record);
    void add(const wire::GraphNodeCopyAddresses& record);
    void add(const wire::GraphNodeClone& record);
    void add(const wire::GraphNodeUpdate& record);
    void add(const wire::GraphExecUpdate& record);

    /// What a node of the executable graph `graph_id` held at a launch call that began at `time_ns`.
    GraphNodeContents contents_of(std::uint64_t node_id, std::uint32_t graph_id, std::int64_t time_ns) const;

  private:
    struct Update {
        std::int64_t time_ns;
        GraphNodeContents contents;
    };
    GraphNodeContents held(std::uint64_t node_id) const;

    std::unordered_map<std::uint64_t, GraphNodeContents> nodes_;
    std::unordered_map<std::uint64_t, std::vector<Update>> updates_;  ///< by node of an executable graph
    std::unordered_map<std::uint32_t, std::int64_t> unknown_from_ns_; ///< by executable graph; 0: all of them
};

} // namespace deepjit::ingest
