#include "src/ingest/import_wire.hpp"

#include "src/base/files.hpp"
#include "src/trace/trace.hpp"
#include "tests/unit/wire/wire_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace deepjit::ingest {
namespace {

namespace fs = std::filesystem;
using wire::WireFile;

constexpr std::uint16_t kLaunchCallback = 307;
constexpr std::uint32_t kMain = 41;
constexpr std::uint32_t kOther = 42;

wire::NvtxPush push(std::int64_t time_ns, std::uint32_t name_id, std::uint32_t domain_id = 0) {
    wire::NvtxPush record;
    record.time_ns = time_ns;
    record.name_id = name_id;
    record.domain_id = domain_id;
    return record;
}

wire::NvtxPop pop(std::int64_t time_ns, std::uint32_t domain_id = 0) {
    wire::NvtxPop record;
    record.time_ns = time_ns;
    record.domain_id = domain_id;
    return record;
}

wire::NvtxStart start(std::int64_t time_ns, std::uint32_t name_id, std::uint64_t range_id) {
    wire::NvtxStart record;
    record.time_ns = time_ns;
    record.name_id = name_id;
    record.range_id = range_id;
    return record;
}

wire::NvtxEnd end(std::int64_t time_ns, std::uint64_t range_id) {
    wire::NvtxEnd record;
    record.time_ns = time_ns;
    record.range_id = range_id;
    return record;
}

std::uint64_t range_of(std::uint32_t thread_id, std::uint32_t number) {
    return static_cast<std::uint64_t>(thread_id) << 32U | number;
}

wire::HostCall launch(std::uint32_t correlation_id, std::int64_t start_ns) {
    wire::HostCall record;
    record.api_id = kLaunchCallback;
    record.correlation_id = correlation_id;
    record.start_ns = start_ns;
    record.end_ns = start_ns + 5;
    return record;
}

wire::Kernel kernel(std::uint32_t correlation_id) {
    wire::Kernel record;
    record.site_id = 1;
    record.correlation_id = correlation_id;
    record.start_ns = 100'000 + correlation_id;
    record.end_ns = record.start_ns + 1;
    return record;
}

/// Recordings made by hand: process 40, names 1 "one" to 5 "five", kernel site 1.
class ImportNvtx : public testing::Test {
  protected:
    ImportNvtx() : folder_(*make_temporary_directory("deepjit-test-nvtx")) {
        wire::ProcessStart process;
        process.process_id = 40;
        process.time_ns = 1;
        wire::ApiName api;
        api.api_id = kLaunchCallback;
        api.category = static_cast<std::uint8_t>(trace::CallCategory::Launch);
        file_.add(process).add(api, "cuLaunchKernel");
        std::uint32_t id = 0;
        for (const char* name : {"one", "two", "three", "four", "five"}) {
            wire::String text;
            text.string_id = ++id;
            file_.add(text, name);
        }
        wire::KernelConfig config;
        config.config_id = 1;
        config.name_id = 1;
        wire::KernelSite site;
        site.site_id = 1;
        site.config_id = 1;
        file_.add(config).add(site).end_block();
    }
    ~ImportNvtx() override { fs::remove_all(folder_); }

    void import() {
        std::ofstream(folder_ / "process-40.djw", std::ios::binary) << file_.contents();
        const auto summary = import_run_folder(folder_, folder_ / "trace.db", {});
        ASSERT_TRUE(summary) << summary.error().message;
    }
    trace::Trace trace() { return *trace::Trace::open(folder_ / "trace.db"); }

    /// "name start-end level" of each by start; no end where left open.
    std::vector<std::string> ranges() {
        std::vector<std::string> rows;
        const auto all = *trace().nvtx_ranges();
        for (const trace::NvtxRange& range : all)
            rows.push_back(range.name.value_or("?") + " " + std::to_string(range.start_ns) + "-" +
                           (range.end_ns ? std::to_string(*range.end_ns) : "") + " " +
                           std::to_string(range.level));
        return rows;
    }
    /// The range of each kernel by correlation id, "-" for none.
    std::vector<std::string> ranges_of_kernels() {
        const trace::Trace opened = trace();
        std::map<std::int64_t, std::string> names = {{0, "-"}};
        const auto all = *opened.nvtx_ranges();
        for (const trace::NvtxRange& range : all)
            names[range.range_id] = range.name.value_or("?");
        std::vector<std::string> rows;
        const auto kernels = *opened.kernels();
        for (const trace::Kernel& row : kernels)
            rows.push_back(names.at(row.nvtx_range_id));
        return rows;
    }

    fs::path folder_;
    WireFile file_;
};

using Rows = std::vector<std::string>;

TEST_F(ImportNvtx, NestsRangesByThreadAndDomain) {
    wire::NvtxDomain domain;
    domain.domain_id = 9;
    domain.name_id = 5;
    domain.time_ns = 5;
    file_.add(domain).end_block();
    file_.add(push(10, 1)).add(push(20, 2, 9)).add(push(30, 3)).end_block(kMain);
    file_.add(push(15, 4)).add(pop(55)).end_block(kOther);
    file_.add(pop(40)).add(pop(50)).add(pop(60, 9)).end_block(kMain);
    import();
    EXPECT_EQ(ranges(), (Rows{"one 10-50 0", "four 15-55 0", "two 20-60 0", "three 30-40 1"}));
    const auto all = *trace().nvtx_ranges();
    EXPECT_EQ(all[3].parent_range_id, all[0].range_id);
    EXPECT_EQ(all[2].parent_range_id, 0);
    EXPECT_EQ(all[2].domain_id, trace().nvtx_domains()->at(0).domain_id);
    EXPECT_EQ(trace().nvtx_domains()->at(0).name, "five");
}

TEST_F(ImportNvtx, KernelsAreInTheRangeThatWasOpenWhenTheirCallWasRecorded) {
    // Kernels before their calls, out of order and several of one call, as graphs have them.
    file_.add(kernel(3)).add(kernel(1)).add(kernel(2)).add(kernel(2)).add(kernel(4)).end_block(900);
    file_.add(push(10, 1)).add(launch(1, 11)).add(push(20, 2)).add(launch(2, 21)).end_block(kMain);
    file_.add(launch(3, 22)).end_block(kOther); // nothing is open there
    file_.add(pop(30)).add(pop(40)).add(launch(4, 41)).end_block(kMain);
    import();
    EXPECT_EQ(ranges_of_kernels(), (Rows{"one", "two", "two", "-", "-"}));
}

TEST_F(ImportNvtx, CallsThatLaunchedNothingGiveNoKernelARange) {
    wire::HostCall captured = launch(1, 11);
    captured.header.flags = wire::HostCall::kCapturing;
    wire::HostCall failed = launch(2, 12);
    failed.result = 1;
    file_.add(push(10, 1)).add(captured).add(failed).add(pop(20)).end_block(kMain);
    file_.add(kernel(1)).add(kernel(2)).end_block(900);
    import();
    EXPECT_EQ(ranges_of_kernels(), (Rows{"-", "-"}));
}

TEST_F(ImportNvtx, ARangeMayBeEndedByAnotherThreadWhoseBlockComesFirst) {
    const std::uint64_t first = range_of(kMain, 0);
    const std::uint64_t second = range_of(kMain, 1);
    file_.add(end(25, second)).end_block(kOther);
    file_.add(start(10, 1, first)).add(start(20, 2, second)).add(launch(1, 24)).add(launch(2, 26));
    file_.add(end(30, first)).add(launch(3, 31)).end_block(kMain);
    file_.add(kernel(1)).add(kernel(2)).add(kernel(3)).end_block(900);
    import();
    EXPECT_EQ(ranges(), (Rows{"one 10-30 0", "two 20-25 0"}));
    EXPECT_EQ(ranges_of_kernels(), (Rows{"two", "one", "-"}));
}

TEST_F(ImportNvtx, WhatALostBlockTookAwayCostsNothingElse) {
    // A pop, an end and a domain whose beginnings are lost, and a name that is.
    file_.add(pop(10)).add(pop(11, 77)).add(end(12, range_of(kMain, 5))).end_block(kMain);
    file_.add(push(20, 99)).add(push(30, 1, 77)).add(pop(40, 77)).end_block(kMain);
    import();
    EXPECT_EQ(ranges(), (Rows{"? 20- 0", "one 30-40 0"}));
    const auto domains = *trace().nvtx_domains();
    ASSERT_EQ(domains.size(), 1U);
    EXPECT_FALSE(domains[0].name);
}

TEST_F(ImportNvtx, ManyRangesThatOtherThreadsEndAreForgotten) {
    constexpr std::uint32_t kCount = 2'000;
    for (std::uint32_t i = 0; i < kCount; ++i)
        file_.add(start(10 * i + 10, 1, range_of(kMain, i)));
    file_.add(launch(1, 10 * kCount + 100)).end_block(kMain);
    for (std::uint32_t i = 0; i < kCount; ++i)
        file_.add(end(10 * i + 15, range_of(kMain, i)));
    file_.end_block(kOther).add(kernel(1)).end_block(900);
    import();
    EXPECT_EQ(ranges().size(), kCount);
    EXPECT_EQ(ranges().front(), "one 10-15 0");
    EXPECT_EQ(ranges_of_kernels(), Rows{"-"});
}

TEST_F(ImportNvtx, AttributesOfUnknownKindsAreLeftOut) {
    wire::NvtxAttributes attributes;
    attributes.payload_type = 200;
    attributes.payload = 7;
    attributes.category = 3;
    const std::string_view tail(reinterpret_cast<const char*>(&attributes), sizeof attributes);
    file_.add(push(10, 1), tail).add(pop(20)).add(push(30, 2), "cut").add(pop(40)).end_block(kMain);
    import();
    const auto all = *trace().nvtx_ranges();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].payload_type, trace::NvtxPayloadType::None);
    EXPECT_EQ(all[0].category, 3U);
    EXPECT_EQ(all[1].category, 0U);
}

TEST_F(ImportNvtx, TwoImagesOfAProcessKeepTheirRangesApart) {
    file_.add(push(10, 1)).add(launch(1, 11)).add(pop(20)).add(kernel(1)).end_block(kMain);
    std::ofstream(folder_ / "process-40.1.djw", std::ios::binary) << file_.contents();
    import();
    EXPECT_EQ(ranges(), (Rows{"one 10-20 0", "one 10-20 0"}));
    const auto kernels = *trace().kernels();
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_NE(kernels[0].nvtx_range_id, kernels[1].nvtx_range_id);
    EXPECT_NE(kernels[0].nvtx_range_id, 0);
}

} // namespace
} // namespace deepjit::ingest
