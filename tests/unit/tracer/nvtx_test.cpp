#include "tests/unit/tracer/traced_program.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include <sys/wait.h>

namespace deepjit::tracer {
namespace {

using trace::NvtxKind;
using trace::NvtxPayloadType;
using trace::NvtxRange;

class Nvtx : public Tracer {
  protected:
    /// Runs tests/fake_cuda/nvtx_program.cpp, whose status counts answers that NVTX does not promise.
    ExitStatus run_nvtx(std::vector<std::string> options, Environment extra = {}) {
        return run_program("fake_cuda_nvtx", std::move(options), std::move(extra)).status;
    }
    void expect_right_answers(std::vector<std::string> options) {
        const ExitStatus status = run_nvtx(std::move(options));
        EXPECT_EQ(status.code, 0) << "answers that NVTX does not promise";
        EXPECT_EQ(status.signal, 0);
    }
    std::vector<NvtxRange> ranges() { return *trace().nvtx_ranges(); }
    NvtxRange range_named(const std::string& name) {
        std::vector<NvtxRange> found;
        for (const NvtxRange& range : ranges())
            if (range.name == name) found.push_back(range);
        EXPECT_EQ(found.size(), 1U) << name;
        return found.empty() ? NvtxRange() : found.front();
    }
    /// The name of the domain, "" for the default one.
    std::string domain_of(const NvtxRange& range) {
        const auto domains = *trace().nvtx_domains();
        for (const trace::NvtxDomain& domain : domains)
            if (domain.domain_id == range.domain_id) return domain.name.value_or("without a name");
        return {};
    }
    /// For each kernel by its grid (which the program counts up): the name of its range, "-" where it has
    /// none.
    std::multimap<std::uint32_t, std::string> ranges_of_kernels() {
        const trace::Trace opened = trace();
        std::map<std::int64_t, std::string> names;
        const auto all = *opened.nvtx_ranges();
        for (const NvtxRange& range : all)
            names[range.range_id] = range.name.value_or("");
        std::map<std::int64_t, std::uint32_t> grids;
        const auto configs = *opened.kernel_configs();
        for (const trace::KernelConfig& config : configs)
            grids[config.config_id] = config.grid[0];
        std::multimap<std::uint32_t, std::string> result;
        const auto kernels = *opened.kernels();
        for (const trace::Kernel& kernel : kernels) {
            result.emplace(grids[kernel.config_id],
                           kernel.nvtx_range_id == 0 ? "-" : names.at(kernel.nvtx_range_id));
        }
        return result;
    }
};

TEST_F(Nvtx, EveryCallIsRecordedWithItsAttributes) {
    expect_right_answers({"all-calls"});
    const auto summary = import();
    EXPECT_EQ(summary.unresolved_references, 0);
    EXPECT_EQ(summary.lost_bytes, 0);

    struct Expected {
        const char* name;
        NvtxKind kind;
        const char* domain;
        std::uint32_t level;
        const char* parent;
    };
    const std::vector<Expected> all = {
        {"push A", NvtxKind::PushPop, "", 0, nullptr},
        {"push W \xe2\x82\xac", NvtxKind::PushPop, "", 1, "push A"},
        {"push Ex", NvtxKind::PushPop, "", 2, "push W \xe2\x82\xac"},
        {"mark A", NvtxKind::Mark, "", 0, nullptr},
        {"mark W", NvtxKind::Mark, "", 0, nullptr},
        {"mark Ex", NvtxKind::Mark, "", 0, nullptr},
        {"start A", NvtxKind::StartEnd, "", 0, nullptr},
        {"start W", NvtxKind::StartEnd, "", 0, nullptr},
        {"start Ex", NvtxKind::StartEnd, "", 0, nullptr},
        {"registered A", NvtxKind::PushPop, "domain A", 0, nullptr},
        {"registered W", NvtxKind::PushPop, "domain A", 1, "registered A"},
        {"of W", NvtxKind::PushPop, "domain W", 0, nullptr},
        {"domain mark", NvtxKind::Mark, "domain A", 0, nullptr},
        {"domain start", NvtxKind::StartEnd, "domain A", 0, nullptr},
    };
    EXPECT_EQ(ranges().size(), all.size());
    for (const Expected& expected : all) {
        const NvtxRange range = range_named(expected.name);
        EXPECT_EQ(range.kind, expected.kind) << expected.name;
        EXPECT_EQ(domain_of(range), expected.domain) << expected.name;
        EXPECT_EQ(range.level, expected.level) << expected.name;
        const std::int64_t parent = expected.parent == nullptr ? 0 : range_named(expected.parent).range_id;
        EXPECT_EQ(range.parent_range_id, parent) << expected.name;
        ASSERT_TRUE(range.end_ns) << expected.name;
        EXPECT_GT(range.start_ns, 0);
        if (expected.kind == NvtxKind::Mark)
            EXPECT_EQ(*range.end_ns, range.start_ns);
        else
            EXPECT_GE(*range.end_ns, range.start_ns);
    }
    // They end in the order "start A", "start Ex", "start W".
    EXPECT_LE(*range_named("start A").end_ns, *range_named("start Ex").end_ns);
    EXPECT_LE(*range_named("start Ex").end_ns, *range_named("start W").end_ns);

    const NvtxRange with_all = range_named("push Ex");
    EXPECT_EQ(with_all.category, 3U);
    EXPECT_EQ(with_all.color, 0xFF12'3456U);
    EXPECT_FALSE(range_named("push A").color);
}

TEST_F(Nvtx, PayloadsOfEveryTypeComeThrough) {
    expect_right_answers({"all-calls"});
    import();
    const auto payload = [&](const char* name) {
        const NvtxRange range = range_named(name);
        return std::tuple(range.payload_type, range.payload_integer, range.payload_real);
    };
    EXPECT_EQ(payload("push Ex"), std::tuple(NvtxPayloadType::Uint64, -1, 0.0)); // the bit pattern
    EXPECT_EQ(payload("mark Ex"), std::tuple(NvtxPayloadType::Int64, -5, 0.0));
    EXPECT_EQ(payload("start Ex"), std::tuple(NvtxPayloadType::Double, 0, 0.25));
    EXPECT_EQ(payload("registered A"), std::tuple(NvtxPayloadType::Uint32, 0xFFFF'FFFF, 0.0));
    EXPECT_EQ(payload("registered W"), std::tuple(NvtxPayloadType::Int32, -7, 0.0));
    EXPECT_EQ(payload("of W"), std::tuple(NvtxPayloadType::Float, 0, 1.5));
    EXPECT_EQ(payload("push A"), std::tuple(NvtxPayloadType::None, 0, 0.0));
}

TEST_F(Nvtx, DomainsAndCategoriesHaveNames) {
    expect_right_answers({"all-calls"});
    import();
    const auto domains = *trace().nvtx_domains();
    ASSERT_EQ(domains.size(), 2U);
    EXPECT_EQ(domains[0].name, "domain A");
    EXPECT_TRUE(domains[0].end_ns); // destroyed
    EXPECT_EQ(domains[1].name, "domain W");
    EXPECT_FALSE(domains[1].end_ns);
    std::map<std::pair<std::int64_t, std::uint32_t>, std::string> categories;
    const auto named_categories = *trace().nvtx_categories();
    for (const trace::NvtxCategory& category : named_categories)
        categories[{category.domain_id, category.category}] = category.name.value_or("");
    const std::map<std::pair<std::int64_t, std::uint32_t>, std::string> expected = {
        {{0, 3}, "third"},
        {{0, 4}, "vierte \xc3\xa9"},
        {{domains[0].domain_id, 3}, "third of A"},
        {{domains[1].domain_id, 3}, "third of W"}};
    EXPECT_EQ(categories, expected);
}

TEST_F(Nvtx, AKernelIsInTheInnermostRangeOpenWhereItWasLaunched) {
    expect_right_answers({"attribution"});
    EXPECT_EQ(import().kernels_recorded, 9 + 4);
    const std::multimap<std::uint32_t, std::string> expected = {
        {1, "before CUDA"},    // NVTX before cuInit
        {2, "inner"},          // of another domain
        {3, "inner"},          // the outer one was popped first
        {4, "-"},              //
        {5, "started second"}, // no push/pop range is open: the latest start/end range
        {6, "pushed later"},   // push/pop before start/end
        {7, "started first"},  //
        {8, "-"},              // another thread has ended it
        {9, "-"},              // that range is of another thread
        {10, "replay"},
        {10, "replay"}, // a graph's kernels: the launch, not the capture
        {11, "replay"},
        {11, "replay"}};
    EXPECT_EQ(ranges_of_kernels(), expected);
    EXPECT_TRUE(range_named("started first").end_ns);
}

TEST_F(Nvtx, WholeGraphLaunchesAreInARangeToo) {
    EXPECT_EQ(run_nvtx({"attribution"}, {{"DEEPJIT_TRACER_GRAPH_LEVEL", "1"}}).code, 0);
    import();
    const auto launches = *trace().graph_launches();
    ASSERT_EQ(launches.size(), 2U);
    EXPECT_EQ(launches[0].nvtx_range_id, range_named("replay").range_id);
    EXPECT_EQ(launches[1].nvtx_range_id, range_named("replay").range_id);
}

TEST_F(Nvtx, ThreadsHaveTheirOwnRanges) {
    expect_right_answers({"threads", "500"});
    EXPECT_EQ(import().kernels_recorded, 2'000);
    std::map<std::pair<std::uint32_t, std::string>, int> kernels;
    for (const auto& kernel : ranges_of_kernels())
        ++kernels[kernel];
    const std::map<std::pair<std::uint32_t, std::string>, int> expected = {
        {{1, "thread 0"}, 500}, {{2, "thread 1"}, 500}, {{3, "thread 2"}, 500}, {{4, "thread 3"}, 500}};
    EXPECT_EQ(kernels, expected);
    std::map<std::string, std::set<std::uint32_t>> threads;
    const auto all = ranges();
    EXPECT_EQ(all.size(), 2'000U);
    for (const NvtxRange& range : all) {
        threads[*range.name].insert(range.thread_id);
        EXPECT_TRUE(range.end_ns);
        EXPECT_EQ(range.level, 0U);
    }
    for (const auto& [name, ids] : threads)
        EXPECT_EQ(ids.size(), 1U) << name;
}

TEST_F(Nvtx, EveryCopyOfNvtxInTheProcessIsRecorded) {
    expect_right_answers({"two-copies"});
    import();
    EXPECT_EQ(recordings(), 1U);
    const std::multimap<std::uint32_t, std::string> expected = {
        {1, "library domain"}, {2, "program"}, {3, "named by the library"}};
    EXPECT_EQ(ranges_of_kernels(), expected);
    EXPECT_EQ(range_named("library default").parent_range_id, range_named("program").range_id);
    EXPECT_EQ(domain_of(range_named("library domain")), "library");
}

TEST_F(Nvtx, RangesThatAreNotClosedAndPopsOfNothingDoNoHarm) {
    expect_right_answers({"unbalanced"});
    EXPECT_EQ(import().unresolved_references, 0);
    EXPECT_TRUE(range_named("a").end_ns);
    EXPECT_FALSE(range_named("left open").end_ns);
    EXPECT_FALSE(range_named("never ended").end_ns);
    EXPECT_FALSE(range_named("inside it").end_ns);
    EXPECT_EQ(range_named("inside it").parent_range_id, range_named("left open").range_id);
    EXPECT_FALSE(range_named("left by its thread").end_ns);
    EXPECT_TRUE(range_named("of a later thread").end_ns);
    EXPECT_EQ(range_named("of a later thread").level, 0U);
    EXPECT_EQ(ranges().size(), 4U + 2U + 100U);
    EXPECT_EQ(trace().nvtx_domains()->size(), 1U + 100U);
}

TEST_F(Nvtx, NamesOfAnyBytesAndLengthAreKept) {
    expect_right_answers({"odd-names"});
    import();
    const auto marks = ranges();
    std::vector<std::optional<std::string>> names;
    for (const NvtxRange& mark : marks)
        names.push_back(mark.name);
    std::string many_euros;
    for (int i = 0; i < 32'768 / 3; ++i)
        many_euros += "\xe2\x82\xac";
    const std::vector<std::optional<std::string>> expected = {
        "odd \"name\"\n*/ ../\xff\xfe'; DROP TABLE nvtx_range_entry; --",
        std::string(8 * 1024, 'n'),
        "",
        std::nullopt,
        std::nullopt,
        std::nullopt,
        std::nullopt, // a struct of no bytes
        "of a larger struct",
        "a\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbdz", // what is no character becomes U+FFFD
        many_euros.substr(0, 32'766),                 // cut at a whole character
        std::string(65'000, 'x')};
    EXPECT_EQ(names, expected);
}

TEST_F(Nvtx, AKilledProgramLosesAtMostTheLast200Milliseconds) {
    EXPECT_EQ(run_nvtx({"killed"}).signal, SIGKILL);
    const auto summary = import();
    ASSERT_EQ(summary.processes.size(), 1U);
    EXPECT_FALSE(summary.processes[0].ended);
    const auto all = ranges();
    EXPECT_LE(all.size(), 100U);
    EXPECT_GE(all.size(), 80U); // a range takes 10 ms at least
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
        EXPECT_TRUE(all[i].end_ns);
}

TEST_F(Nvtx, AProgramThatNeverTouchesCudaIsNotTakenForOneThatDid) {
    expect_right_answers({"all-calls"});
    const auto summary = import();
    ASSERT_EQ(summary.processes.size(), 1U);
    EXPECT_FALSE(summary.driver_initialised);
    EXPECT_FALSE(summary.processes[0].reached_cuda);
    EXPECT_TRUE(summary.processes[0].ended);
    EXPECT_FALSE(trace().meta(trace::meta_key::kTracerError));
    EXPECT_EQ(trace().processes()->at(0).driver_version, 0);
}

TEST_F(Nvtx, ARecordingThatNvtxOpenedLearnsOfCudaLater) {
    expect_right_answers({"attribution"});
    const auto summary = import();
    EXPECT_TRUE(summary.driver_initialised);
    EXPECT_TRUE(summary.processes.at(0).reached_cuda);
    EXPECT_TRUE(summary.processes.at(0).subscribed);
    const auto processes = *trace().processes();
    ASSERT_EQ(processes.size(), 1U);
    EXPECT_EQ(processes[0].driver_version, 13'000);
    EXPECT_EQ(processes[0].cupti_version, 130'001);
    EXPECT_LE(processes[0].start_ns, range_named("before CUDA").start_ns);
}

TEST_F(Nvtx, AForkedChildThatUsesCudaHasItsOwnRecordingWithTheNamesOfItsParent) {
    expect_right_answers({"fork"});
    EXPECT_EQ(recordings(), 2U);
    const auto summary = import();
    EXPECT_EQ(summary.kernels_recorded, 1);
    EXPECT_EQ(summary.lost_bytes, 0);
    EXPECT_EQ(summary.unresolved_references, 0);
    const std::multimap<std::uint32_t, std::string> expected = {{1, "registered before the fork"}};
    EXPECT_EQ(ranges_of_kernels(), expected);
    const NvtxRange in_child = range_named("registered before the fork");
    EXPECT_EQ(domain_of(in_child), "of the parent");
    const NvtxRange in_parent = range_named("parent");
    EXPECT_NE(in_child.process_id, in_parent.process_id);
    EXPECT_TRUE(in_parent.end_ns);
}

TEST_F(Nvtx, OperatorsAreReadFromTheNamesThatFrameworksGive) {
    expect_right_answers({"operators"});
    import();
    const auto operators = *trace().nvtx_operators();
    ASSERT_EQ(operators.size(), 2U);
    EXPECT_EQ(operators[0].framework, "PyTorch");
    EXPECT_EQ(operators[0].operator_name, "aten::add");
    EXPECT_EQ(operators[0].sequence, 12);
    EXPECT_EQ(operators[0].op_id, 34);
    EXPECT_EQ(operators[0].shapes_json, "[[2,3],[]]");
    EXPECT_EQ(operators[0].input_op_ids_json, "[[3,0],[4,1]]");
    EXPECT_EQ(operators[1].framework, "TensorRT");
    EXPECT_EQ(operators[1].operator_name, "{ForeignNode[/a/Add.../b/Mul]}");
    const auto kernels = *trace().kernels();
    for (const trace::Kernel& kernel : kernels) {
        EXPECT_TRUE(std::any_of(operators.begin(), operators.end(),
                                [&](const auto& op) { return op.range_id == kernel.nvtx_range_id; }));
    }
}

TEST_F(Nvtx, WithoutARunFolderNothingIsRecorded) {
    EXPECT_EQ(run_nvtx({"threads", "2"}, {{"DEEPJIT_RUN_DIR", "/absent/folder"}}).code, 101); // level 0 is -2
    EXPECT_EQ(recordings(), 0U);
}

class ManyRanges : public Nvtx, public testing::WithParamInterface<const char*> {};

TEST_P(ManyRanges, CostNoMemory) {
    expect_right_answers({GetParam(), "500000"}); // counts growth past 8 MiB as wrong
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder_))
        bytes += entry.file_size();
    EXPECT_GT(bytes, 700'000U * 36);
    if (GetParam() == std::string("many")) {
        EXPECT_LT(bytes, 700'000U * 37);
    }
}

INSTANTIATE_TEST_SUITE_P(, ManyRanges, testing::Values("many", "many-names"));

} // namespace
} // namespace deepjit::tracer
