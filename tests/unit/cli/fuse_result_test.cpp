#include "cli/fuse_result.hpp"
#include "src/base/text.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace deepjit::cli {
namespace {

FuseResult measured_result() {
    FuseResult result;
    result.emission.name = "chain_1";
    result.emission.kernel.element_count = 1 << 24;
    result.emission.images = {{80, ""}, {90, ""}};
    result.folder = "out/chain_1";
    result.original_kernels = 12;
    result.configuration = "block 1024, 4 16-byte vectors a thread, streaming stores";
    result.variants_tried = 32;
    result.variants_rejected = 12;
    verify::Verification& verification = result.emission.verification;
    verification.status = verify::VerificationStatus::Passed;
    verification.device_name = "NVIDIA H200 with a name that is longer than most";
    verification.reason = "28 cases passed";
    verification.original_side = "the same kernels generated one by one, without fusion";
    verify::OutputVerdict output;
    output.name = "an_output_with_a_long_name";
    output.fused.error = 1.192092896e-07;
    output.original.error = 1.192092896e-07;
    output.fused.elements = 123'456'789;
    output.different_bits = 1'234'567;
    verification.outputs = {output};
    verify::Benchmark& benchmark = result.emission.benchmark;
    benchmark.measured = true;
    const verify::Estimate original{123'456, 122'345, 124'567, 31, true};
    const verify::Estimate fused{23'456, 22'345, 24'567, 31, true};
    for (const verify::L2State l2 : {verify::L2State::Cold, verify::L2State::Hot})
        benchmark.states.push_back({l2, original, original, fused, fused});
    return result;
}

TEST(FuseText, fits_80_columns_with_every_part_of_it_present) {
    const std::string text = fuse_text(measured_result());
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(display_width(line), 80u) << line;
    for (const char* part :
         {"verdict   passed on NVIDIA", "margin 1 eps", "1,234,567 of 123,456,789", "cold L2", "Recommended",
          "32 tried, 12 rejected", "sm_80 and sm_90", "written   out/chain_1"})
        EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(FuseText, shows_no_time_where_nothing_was_verified) {
    FuseResult result = measured_result();
    result.emission.verification = verify::not_run("no CUDA driver");
    result.emission.benchmark = {};
    result.emission.benchmark.reason = "no CUDA driver";
    const std::string text = fuse_text(result);
    EXPECT_NE(text.find("not verified on a GPU: no CUDA driver"), std::string::npos);
    EXPECT_NE(text.find("times     not measured: no CUDA driver"), std::string::npos);
    EXPECT_EQ(text.find("\u00b5s"), std::string::npos) << text;
}

} // namespace
} // namespace deepjit::cli
