#include "src/base/hash.hpp"
#include "src/wire/capture_plan.hpp"
#include "tests/unit/tracer/traced_program.hpp"

#include <map>

namespace deepjit::tracer {
namespace {

constexpr std::uint64_t kMebibyte = 1U << 20U;
constexpr std::size_t kBufferBytes = 4096;

/// The chain that fake_cuda_launch runs with three kernels a frame, of which each writes its output.
class CapturedChain : public Tracer {
  protected:
    struct Step {
        std::string name;
        std::uint32_t grid = 4;
    };
    const std::vector<Step> chain_ = {{"_Z5scalePKfPffi"}, {"_Z6taggedcPKfPf"}, {"_Z5emptyv"}};

    ingest::CaptureSummary capture(const std::vector<Step>& steps, std::vector<std::string> options,
                                   std::uint64_t limit_bytes = kMebibyte, std::uint32_t lead_count = 0) {
        wire::CapturePlanHeader header;
        header.step_count = static_cast<std::uint32_t>(steps.size());
        header.lead_count = lead_count;
        header.limit_bytes = limit_bytes;
        std::ofstream plan(folder_ / "plan", std::ios::binary);
        plan.write(reinterpret_cast<const char*>(&header), sizeof header);
        for (const Step& step : steps) {
            wire::CapturePlanStep wanted;
            wanted.name_hash = hash_64(step.name);
            wanted.grid[0] = step.grid;
            wanted.block[0] = 256;
            plan.write(reinterpret_cast<const char*>(&wanted), sizeof wanted);
        }
        plan.close();
        if (std::find(options.begin(), options.end(), "--kernels") == options.end())
            options.insert(options.end(), {"--kernels", "3"});
        EXPECT_EQ(launch(options, {{"DEEPJIT_TRACER_CAPTURE_PLAN", (folder_ / "plan").string()},
                                   {"FAKE_CUDA_KERNELS_WRITE", "1"}})
                      .code,
                  0);
        return import().capture;
    }
    /// Saved contents by moment (true: after) and address.
    std::map<std::pair<bool, std::uint64_t>, std::string> contents() {
        const trace::Trace opened = trace();
        std::map<std::pair<bool, std::uint64_t>, std::string> found;
        for (const trace::CapturedBuffer& buffer : opened.captured_buffers().value_or({}))
            if (!buffer.hash.empty())
                found[{buffer.after, buffer.address}] = *opened.captured_bytes(buffer.hash);
        return found;
    }
};

TEST_F(CapturedChain, HasItsBuffersBeforeAndAfterAndItsArguments) {
    const auto summary = capture(chain_, {"--frames", "5"});
    EXPECT_EQ(summary.launches, 3);
    EXPECT_EQ(summary.buffers, 6); // three allocations, twice
    EXPECT_EQ(summary.missing_buffers, 0);
    EXPECT_EQ(summary.bytes, 6 * static_cast<std::int64_t>(kBufferBytes));
    // scale writes its output and tagged its own; the first run was the warm-up, the second is captured.
    int changed = 0;
    const auto saved = contents();
    for (const auto& [key, before] : saved) {
        if (key.first) continue;
        const std::string& after = saved.at({true, key.second});
        ASSERT_EQ(before.size(), kBufferBytes);
        EXPECT_EQ(before.substr(1), after.substr(1));
        const int difference = static_cast<unsigned char>(after[0]) - static_cast<unsigned char>(before[0]);
        EXPECT_TRUE(difference == 0 || difference == 1) << difference;
        changed += difference;
    }
    EXPECT_EQ(changed, 2);

    const trace::Trace opened = trace();
    const auto launches = *opened.captured_launches();
    const auto kernels = *opened.kernels();
    ASSERT_EQ(launches.size(), 3U);
    ASSERT_EQ(kernels.size(), 15U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(launches[i].step, i);
        EXPECT_EQ(launches[i].correlation_id, kernels[3 + i].correlation_id);
        EXPECT_EQ(launches[i].arguments_id, kernels[3 + i].arguments_id);
    }
}

TEST_F(CapturedChain, IsFoundInsideAFrameWithOtherKernels) {
    const auto summary = capture({chain_[1], chain_[2]}, {"--frames", "4"});
    EXPECT_EQ(summary.launches, 2);
    EXPECT_EQ(summary.buffers, 4); // the input and the output of tagged
}

TEST_F(CapturedChain, IsToldFromOthersLikeItByWhatComesBefore) {
    // Frames of scale, tagged, empty, scale, tagged: the second pair follows an empty one.
    const auto summary =
        capture({chain_[2], chain_[0], chain_[1]}, {"--frames", "4", "--kernels", "5"}, kMebibyte, 1);
    EXPECT_EQ(summary.launches, 2);
    const trace::Trace opened = trace();
    const auto launches = *opened.captured_launches();
    const auto kernels = *opened.kernels();
    ASSERT_EQ(launches.size(), 2U);
    EXPECT_EQ(launches[0].correlation_id, kernels[5 + 3].correlation_id);
    EXPECT_EQ(launches[1].correlation_id, kernels[5 + 4].correlation_id);
    EXPECT_EQ(summary.missing_buffers, 0);
}

TEST_F(CapturedChain, IsFoundAfterAFalseStart) {
    // Frames of scale, tagged, empty, scale: the next frame's scale follows one that looked like the start.
    const auto summary = capture({chain_[0], chain_[0], chain_[1]}, {"--frames", "4", "--kernels", "4"});
    EXPECT_EQ(summary.launches, 3);
}

TEST_F(CapturedChain, IsLeftAloneWhereItDoesNotRunAsInTheEarlierTrace) {
    std::vector<Step> other_grid = chain_;
    other_grid[2].grid = 5;
    EXPECT_EQ(capture(other_grid, {"--frames", "5"}).launches, 0);
    EXPECT_TRUE(contents().empty());
}

TEST_F(CapturedChain, NeedsTwoRuns) {
    EXPECT_EQ(capture(chain_, {"--frames", "1"}).launches, 0);
}

TEST_F(CapturedChain, InAGraphIsNotSeen) {
    EXPECT_EQ(capture(chain_, {"--frames", "5", "--graph"}).launches, 0);
}

TEST_F(CapturedChain, KeepsToItsLimitAndSaysWhatIsMissing) {
    const auto summary = capture(chain_, {"--frames", "5"}, 2 * kBufferBytes);
    EXPECT_EQ(summary.launches, 3);
    EXPECT_EQ(summary.buffers, 6);
    EXPECT_EQ(summary.missing_buffers, 2);
    EXPECT_EQ(summary.bytes, 4 * static_cast<std::int64_t>(kBufferBytes));
}

TEST_F(CapturedChain, HasWhatWasAllocatedWithinTheRunAsItWasBeforeItsFirstUse) {
    const auto summary = capture(chain_, {"--frames", "2", "--new-outputs"});
    EXPECT_EQ(summary.launches, 3);
    EXPECT_EQ(summary.missing_buffers, 0);
    // The input and the outputs of scale and tagged, of the first run and of the captured one.
    EXPECT_EQ(summary.buffers, 2 * 5);
    int changed = 0;
    const auto saved = contents();
    for (const auto& [key, before] : saved)
        if (!key.first && before != saved.at({true, key.second})) ++changed;
    EXPECT_EQ(changed, 2);
}

TEST_F(CapturedChain, ADamagedPlanCapturesNothing) {
    std::ofstream(folder_ / "cut") << "JCAP";
    EXPECT_EQ(launch({"--frames", "3", "--kernels", "3"},
                     {{"DEEPJIT_TRACER_CAPTURE_PLAN", (folder_ / "cut").string()}})
                  .code,
              0);
    const auto summary = import();
    EXPECT_EQ(summary.capture.launches, 0);
    EXPECT_EQ(summary.kernels_recorded, 9);
}

TEST_F(CapturedChain, TheTracersOwnCopiesAreNoCallsOfTheProgram) {
    capture(chain_, {"--frames", "5"});
    for (const trace::HostCall& call : trace().host_calls().value_or({}))
        EXPECT_NE(call.api, "cuMemcpyDtoH_v2");
}

} // namespace
} // namespace deepjit::tracer
