#include "src/ingest/graph_nodes.hpp"

#include <gtest/gtest.h>

namespace deepjit::ingest {
namespace {

constexpr std::uint64_t kTemplateNode = 100;
constexpr std::uint64_t kExecNode = 300;
constexpr std::uint64_t kOtherNode = 200;
constexpr std::uint32_t kExecGraph = 3;

wire::GraphNodeArguments arguments(std::uint64_t node_id, std::uint32_t arguments_id) {
    return {{}, node_id, arguments_id};
}
wire::GraphNodeClone clone(std::uint64_t node_id, std::uint64_t original_node_id) {
    return {{}, node_id, original_node_id};
}
wire::GraphNodeUpdate update(std::int64_t time_ns, std::uint64_t source_node_id, std::uint32_t arguments_id) {
    return {{}, kExecNode, source_node_id, arguments_id, time_ns};
}

/// A graph with one node that was instantiated once.
class GraphNodesTest : public testing::Test {
  protected:
    void SetUp() override {
        nodes_.add(arguments(kTemplateNode, 1));
        nodes_.add(clone(kExecNode, kTemplateNode));
    }
    std::uint32_t arguments_at(std::int64_t time_ns) const {
        return nodes_.contents_of(kExecNode, kExecGraph, time_ns).arguments_id;
    }
    GraphNodes nodes_;
};

TEST_F(GraphNodesTest, AGraphChangedAfterItWasInstantiatedLeavesTheExecutableAsItWas) {
    nodes_.add(arguments(kTemplateNode, 2));
    EXPECT_EQ(arguments_at(1'000), 1U);
    nodes_.add(clone(kExecNode + 1, kTemplateNode));
    EXPECT_EQ(nodes_.contents_of(kExecNode + 1, 4, 1'000).arguments_id, 2U);
}

TEST_F(GraphNodesTest, ALaunchSeesTheLastUpdateBeforeItsCall) {
    nodes_.add(update(100, 0, 2));
    nodes_.add(arguments(kOtherNode, 3));
    nodes_.add(update(200, kOtherNode, 0));
    nodes_.add(arguments(kOtherNode, 4)); // after its contents were taken over
    EXPECT_EQ(arguments_at(99), 1U);
    EXPECT_EQ(arguments_at(100), 2U);
    EXPECT_EQ(arguments_at(199), 2U);
    EXPECT_EQ(arguments_at(5'000), 3U);
}

TEST_F(GraphNodesTest, AnUpdateThatCouldNotBeFollowedMakesTheArgumentsUnknownFromThenOn) {
    nodes_.add(wire::GraphExecUpdate{{}, kExecGraph, 500});
    nodes_.add(wire::GraphExecUpdate{{}, kExecGraph, 700});
    EXPECT_EQ(arguments_at(499), 1U);
    EXPECT_EQ(arguments_at(500), 0U);
    EXPECT_EQ(nodes_.contents_of(kExecNode, kExecGraph + 1, 900).arguments_id, 1U);
    nodes_.add(wire::GraphExecUpdate{{}, 0, 800}); // of a graph whose id CUPTI does not tell
    EXPECT_EQ(nodes_.contents_of(kExecNode, kExecGraph + 1, 900).arguments_id, 0U);
}

TEST_F(GraphNodesTest, CopiesKeepTheirAddressesThroughClones) {
    nodes_.add(wire::GraphNodeCopyAddresses{{}, kOtherNode, 0x10, 0x20});
    nodes_.add(clone(kOtherNode + 1, kOtherNode));
    const GraphNodeContents contents = nodes_.contents_of(kOtherNode + 1, 9, 0);
    EXPECT_EQ(contents.copy_source, 0x10U);
    EXPECT_EQ(contents.copy_destination, 0x20U);
    EXPECT_EQ(contents.arguments_id, 0U);
}

TEST_F(GraphNodesTest, NodesWithoutRecordsAndClonesOfThemAreUnknown) {
    nodes_.add(clone(8, 7));
    EXPECT_EQ(nodes_.contents_of(7, 1, 0).arguments_id, 0U);
    EXPECT_EQ(nodes_.contents_of(8, 1, 0).arguments_id, 0U);
}

} // namespace
} // namespace deepjit::ingest
