#include "src/tracer/watched_calls.hpp"

#include "src/trace/records.hpp"

#include <gtest/gtest.h>

#include <string>

namespace deepjit::tracer {
namespace {

TEST(WatchedCalls, AreFoundByTheirId) {
    for (const WatchedCall& call : watched_calls())
        EXPECT_EQ(watched_call(call.id), &call) << call.name;
    EXPECT_EQ(watched_call(CUPTI_DRIVER_TRACE_CBID_cuDeviceGet), nullptr);
    EXPECT_EQ(watched_call(CUPTI_DRIVER_TRACE_CBID_SIZE), nullptr);
    EXPECT_EQ(watched_call(0xFFFF'FFFF), nullptr);
}

/// src/tracer writes the numbers of trace::CallCategory without seeing it.
TEST(WatchedCalls, HaveTheCategoriesOfTheTrace) {
    const auto category_of = [](CUpti_CallbackId id) {
        return static_cast<trace::CallCategory>(watched_call(id)->category);
    };
    EXPECT_EQ(category_of(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel), trace::CallCategory::Launch);
    EXPECT_EQ(category_of(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch), trace::CallCategory::GraphLaunch);
    EXPECT_EQ(category_of(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync), trace::CallCategory::Copy);
    EXPECT_EQ(category_of(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize), trace::CallCategory::Synchronise);
    EXPECT_EQ(category_of(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2), trace::CallCategory::Allocate);
    EXPECT_EQ(category_of(CUPTI_DRIVER_TRACE_CBID_cuEventRecord), trace::CallCategory::Event);
    EXPECT_EQ(category_of(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags), trace::CallCategory::Graph);
    EXPECT_EQ(category_of(CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData), trace::CallCategory::ModuleLoad);
}

} // namespace
} // namespace deepjit::tracer
