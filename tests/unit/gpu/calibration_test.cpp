#include "src/gpu/calibration.hpp"

#include <gtest/gtest.h>

namespace deepjit::gpu {
namespace {

Calibration example() {
    Calibration calibration;
    calibration.device_uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";
    calibration.driver_version = "580.82.07";
    calibration.tracer_identity = "abc";
    calibration.stream_launch_ns = Measured{3500.25, 3400, 3700};
    calibration.graph_node_ns = Measured{670, 660, 700};
    calibration.copies = {{std::int64_t{1} << 20, {5e12, 4e12, 6e12}},
                          {std::int64_t{1} << 30, {3e12, 3e12, 3e12}}};
    calibration.barriers = {{132, {900, 850, 1100}}};
    return calibration;
}

TEST(CalibrationJson, KeepsWhatWasMeasuredAndLeavesOutWhatWasNot) {
    const auto read = calibration_from_json(to_json(example()));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->device_uuid, example().device_uuid);
    EXPECT_EQ(read->driver_version, example().driver_version);
    EXPECT_EQ(read->tracer_identity, example().tracer_identity);
    EXPECT_EQ(read->stream_launch_ns->typical, 3500.25);
    EXPECT_EQ(read->stream_launch_ns->low, 3400);
    EXPECT_EQ(read->stream_launch_ns->high, 3700);
    EXPECT_EQ(read->graph_node_ns->typical, 670);
    ASSERT_EQ(read->copies.size(), 2u);
    EXPECT_EQ(read->copies[1].footprint_bytes, std::int64_t{1} << 30);
    EXPECT_EQ(read->copies[0].bytes_per_second.high, 6e12);
    ASSERT_EQ(read->barriers.size(), 1u);
    EXPECT_EQ(read->barriers[0].blocks, 132);
    EXPECT_EQ(read->barriers[0].barrier_ns.low, 850);
    EXPECT_FALSE(read->graph_intercept_ns);
    EXPECT_FALSE(read->tracer_launch_ns);
}

TEST(CalibrationJson, RefusesOtherTextAndOtherVersions) {
    for (const char* text : {"", "{", "[]", "{}", "null", R"({"schema_version": 1})",
                             R"({"schema_version": 2})", R"({"schema_version": 2, "device_uuid": 3})"})
        EXPECT_FALSE(calibration_from_json(text)) << text;
    std::string wrong_type = to_json(example());
    wrong_type.replace(wrong_type.find("3500.25"), 7, "\"fast\" ");
    EXPECT_FALSE(calibration_from_json(wrong_type));
}

TEST(Spread, IsTheMedianBetweenTheLowestAndTheHighest) {
    const Measured measured = spread_of({3, 1, 2, 10});
    EXPECT_EQ(measured.typical, 2.5);
    EXPECT_EQ(measured.low, 1);
    EXPECT_EQ(measured.high, 10);
    EXPECT_EQ(spread_of({}).high, 0);
}

} // namespace
} // namespace deepjit::gpu
