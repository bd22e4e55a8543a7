#include "cli/doctor_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace deepjit::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kStartedNs = 1000 * kSecondNs;
constexpr std::int64_t kEndedNs = 1002 * kSecondNs;

LaunchLoopOutcome recorded(std::vector<KernelTimes> kernels) {
    LaunchLoopOutcome outcome;
    outcome.tracer_started = true;
    outcome.kernels = std::move(kernels);
    return outcome;
}

CheckStatus self_test_of(std::vector<KernelTimes> kernels) {
    return judge_self_test(recorded(std::move(kernels)), kStartedNs, kEndedNs).status;
}

TEST(SelfTest, PassesOnKernelsWithTimesInsideTheTest) {
    EXPECT_EQ(self_test_of({{kStartedNs + 100, kStartedNs + 772}}), CheckStatus::Pass);
}

TEST(SelfTest, FailsOnTimesThatCannotBe) {
    EXPECT_EQ(self_test_of({{0, 0}}), CheckStatus::Fail);
    EXPECT_EQ(self_test_of({{kStartedNs + 100, kStartedNs + 100}}), CheckStatus::Fail);
    EXPECT_EQ(self_test_of({{kStartedNs + 100, kStartedNs + 50}}), CheckStatus::Fail);
    EXPECT_EQ(self_test_of({{kStartedNs - 5 * kSecondNs, kStartedNs}}), CheckStatus::Fail);
    EXPECT_EQ(self_test_of({{kStartedNs, kEndedNs + 5 * kSecondNs}}), CheckStatus::Fail);
    EXPECT_EQ(self_test_of({{kStartedNs + 100, kStartedNs + 772}, {0, 0}}), CheckStatus::Fail);
}

TEST(SelfTest, FailsWithCuptisReasonWhereNoKernelArrived) {
    LaunchLoopOutcome outcome = recorded({});
    outcome.cupti_error = 39;
    const CheckResult check = judge_self_test(outcome, kStartedNs, kEndedNs);
    EXPECT_EQ(check.status, CheckStatus::Fail);
    EXPECT_THAT(check.evidence, HasSubstr("39"));
    EXPECT_THAT(check.remedy, HasSubstr("another profiler"));
}

TEST(SelfTest, FailsWhereTheTracerWasNotLoaded) {
    const CheckResult check = judge_self_test({}, kStartedNs, kEndedNs);
    EXPECT_EQ(check.status, CheckStatus::Fail);
    EXPECT_THAT(check.remedy, HasSubstr("CUDA_INJECTION64_PATH"));
}

TEST(CounterPermission, WarnsOnlyAUserWhomTheDriverShutsOut) {
    EXPECT_EQ(judge_counter_permission("RmProfilingAdminOnly: 0\n", false).status, CheckStatus::Pass);
    EXPECT_EQ(judge_counter_permission("RmProfilingAdminOnly: 1\n", true).status, CheckStatus::Pass);
    const CheckResult check = judge_counter_permission("RmProfilingAdminOnly: 1\n", false);
    EXPECT_EQ(check.status, CheckStatus::Warn);
    EXPECT_THAT(check.remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
}

TEST(LibraryPath, WarnsOfAStubsFolderWhereverItStands) {
    for (const char* paths :
         {"/usr/local/cuda/lib64/stubs", "/a:/usr/local/cuda/lib64/stubs/", "/x/stubs:/b"}) {
        const CheckResult check = judge_library_path(paths);
        EXPECT_EQ(check.status, CheckStatus::Warn) << paths;
        EXPECT_THAT(check.evidence, HasSubstr("stubs"));
    }
    for (const char* paths : {"", ":", "/usr/lib:/opt/stubs-of-mine/lib"})
        EXPECT_EQ(judge_library_path(paths).status, CheckStatus::Pass) << paths;
}

const std::vector<CheckResult> kChecks = {{"driver", CheckStatus::Fail, "not\x1b found", "install it"},
                                          {"nvrtc", CheckStatus::Pass, "13.0", ""},
                                          {"device", CheckStatus::Skip, "needs the driver", ""}};

TEST(DoctorReport, OnlyAFailureMakesAMachineUnfit) {
    EXPECT_FALSE(is_fit(kChecks));
    EXPECT_TRUE(is_fit({{"a", CheckStatus::Warn, "", ""}, {"b", CheckStatus::Skip, "", ""}}));
}

TEST(DoctorReport, TextHasOneLineACheckTheRemedyAndASummary) {
    EXPECT_EQ(render_doctor_text(kChecks, false, 80),
              "fail  driver  not\\x1b found\n"
              "              hint: install it\n"
              "pass  nvrtc   13.0\n"
              "skip  device  needs the driver\n"
              "\n"
              "1 pass, 0 warn, 1 fail, 1 skip: this machine is not fit for "
              "profiling\n");
}

TEST(DoctorReport, TextIsWrappedUnderItsOwnColumn) {
    EXPECT_EQ(render_doctor_text({{"cupti", CheckStatus::Fail, "the library was not found in any folder",
                                   "install it or name it with a variable"}},
                                 false, 40),
              "fail  cupti  the library was not found\n"
              "             in any folder\n"
              "             hint: install it or name it\n"
              "             with a variable\n"
              "\n"
              "0 pass, 0 warn, 1 fail, 0 skip: this machine is not fit for profiling\n");
}

TEST(DoctorReport, ColorChangesNothingButTheStatus) {
    const std::string text = render_doctor_text(kChecks, true, 80);
    EXPECT_THAT(text, HasSubstr("\x1b[31mfail\x1b[0m  driver"));
    EXPECT_THAT(text, Not(HasSubstr("not\x1b found")));
}

TEST(DoctorReport, JsonHoldsEveryCheck) {
    const auto report = nlohmann::json::parse(render_doctor_json(kChecks));
    EXPECT_EQ(report.at("schema_version"), 1);
    EXPECT_EQ(report.at("fit"), false);
    EXPECT_EQ(report.at("counts").at("fail"), 1);
    ASSERT_EQ(report.at("checks").size(), 3U);
    EXPECT_EQ(report.at("checks").at(0).at("id"), "driver");
    EXPECT_EQ(report.at("checks").at(0).at("status"), "fail");
    EXPECT_EQ(report.at("checks").at(0).at("remedy"), "install it");
}

} // namespace
} // namespace deepjit::cli
