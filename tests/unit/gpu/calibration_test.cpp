#include "src/gpu/calibration.hpp"

#include <gtest/gtest.h>

namespace deepjit::gpu {
namespace {

Calibration example() {
    Calibration calibration;
    calibration.device_uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";
    calibration.driver_version = "580.82.07";
    calibration.tracer_identity = "abc";
    calibration.stream_launch_ns = 3500.25;
    calibration.graph_node_ns = 670;
    return calibration;
}

TEST(CalibrationJson, KeepsWhatWasMeasuredAndLeavesOutWhatWasNot) {
    const auto read = calibration_from_json(to_json(example()));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->device_uuid, example().device_uuid);
    EXPECT_EQ(read->driver_version, example().driver_version);
    EXPECT_EQ(read->tracer_identity, example().tracer_identity);
    EXPECT_EQ(read->stream_launch_ns, example().stream_launch_ns);
    EXPECT_EQ(read->graph_node_ns, example().graph_node_ns);
    EXPECT_FALSE(read->graph_intercept_ns);
    EXPECT_FALSE(read->tracer_launch_ns);
}

TEST(CalibrationJson, RefusesOtherTextAndOtherVersions) {
    for (const char* text : {"", "{", "[]", "{}", "null", R"({"schema_version": 2})",
                             R"({"schema_version": 1})", R"({"schema_version": 1, "device_uuid": 3})"})
        EXPECT_FALSE(calibration_from_json(text)) << text;
    std::string wrong_type = to_json(example());
    wrong_type.replace(wrong_type.find("3500.25"), 7, "\"fast\" ");
    EXPECT_FALSE(calibration_from_json(wrong_type));
}

} // namespace
} // namespace deepjit::gpu
