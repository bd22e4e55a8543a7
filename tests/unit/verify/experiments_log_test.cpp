#include "fusers/verify/experiments_log.hpp"
#include "src/base/files.hpp"

#include <gtest/gtest.h>

namespace deepjit::verify {
namespace {

class ExperimentsLogTest : public ::testing::Test {
  protected:
    void SetUp() override { folder_ = *make_temporary_directory("experiments"); }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path folder_;
};

Experiment failed_experiment() {
    Experiment experiment;
    experiment.chain_name = "add'; DROP TABLE experiment; --";
    experiment.chain_hash = "hash";
    experiment.outcome = "failed to compile";
    experiment.reason = "error on line 7";
    return experiment;
}

TEST_F(ExperimentsLogTest, failures_are_kept_beside_successes_across_openings) {
    const auto path = folder_ / "experiments.db";
    ASSERT_TRUE(ExperimentsLog::open(path)->add(failed_experiment()));
    Experiment success = failed_experiment();
    success.outcome = "chosen";
    success.time_ns = 5800;
    success.registers_per_thread = 24;
    auto log = ExperimentsLog::open(path);
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->add(success));

    const auto rows = log->of_chain("hash");
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->size(), 2u);
    EXPECT_EQ((*rows)[0].outcome, "failed to compile");
    EXPECT_EQ((*rows)[0].chain_name, failed_experiment().chain_name);
    EXPECT_FALSE((*rows)[0].time_ns);
    EXPECT_EQ((*rows)[1].registers_per_thread, 24);
    EXPECT_EQ((*rows)[1].time_ns, 5800);
    EXPECT_TRUE(log->of_chain("other")->empty());
}

TEST_F(ExperimentsLogTest, a_foreign_file_is_left_alone) {
    const auto path = folder_ / "experiments.db";
    ASSERT_TRUE(write_file_atomically(path, "my diary, no database at all, and longer than a header"));
    EXPECT_FALSE(ExperimentsLog::open(path));
    EXPECT_EQ(*read_file(path), "my diary, no database at all, and longer than a header");
}

} // namespace
} // namespace deepjit::verify
