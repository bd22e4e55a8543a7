#include "analyzers/measured_traffic.hpp"

#include "analyzers/inflated_traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deepjit::analyzers {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A chain of two kernels over two frames; kernel N moves 100·N bytes in L2 and 10·N in DRAM, half each way.
class MeasuredTrafficTest : public testing::Test {
  protected:
    void SetUp() override {
        chain_.occurrences = {{1, 2}, {3, 4}};
        for (std::int64_t id = 1; id <= 4; ++id)
            data_.kernel_traffic[id] = {id, 5 * id, 5 * id, 50 * id, 50 * id, 1};
    }
    model::Finding finding(std::optional<model::LogicalTraffic> logical) {
        model::ChainAdvice advice;
        advice.chain = chain_;
        advice.traffic = logical;
        const std::vector<model::ChainAdvice> chains = {advice};
        const AdviseOptions options;
        return find_inflated_traffic({data_, options, nullptr, nullptr, nullptr, chains}).at(0);
    }

    model::TraceData data_;
    model::Chain chain_;
};

TEST_F(MeasuredTrafficTest, IsTheMeanOverFrames) {
    const auto traffic = measured_traffic(data_, chain_);
    ASSERT_TRUE(traffic);
    EXPECT_EQ(traffic->l2_bytes, (300 + 700) / 2.0);
    EXPECT_EQ(traffic->dram_bytes, (30 + 70) / 2.0);
}

TEST_F(MeasuredTrafficTest, LeavesOutFramesWithAKernelThatHasNoFigures) {
    data_.kernel_traffic.erase(4);
    EXPECT_EQ(measured_traffic(data_, chain_)->l2_bytes, 300);
    data_.kernel_traffic.erase(1);
    EXPECT_FALSE(measured_traffic(data_, chain_));
}

TEST_F(MeasuredTrafficTest, NeedsNoDram) {
    data_.kernel_traffic[3].dram_read_bytes.reset();
    const auto traffic = measured_traffic(data_, chain_);
    ASSERT_TRUE(traffic);
    EXPECT_EQ(traffic->l2_bytes, 500);
    EXPECT_FALSE(traffic->dram_bytes);
}

TEST_F(MeasuredTrafficTest, IsToldBesideTheLogicalTrafficThatDecides) {
    const model::Finding measured = finding(model::LogicalTraffic{240, 200});
    EXPECT_EQ(measured.outcome, model::Finding::Outcome::DoesNotHold);
    EXPECT_EQ(measured.measures.at(0).name, "logical_inflation");
    EXPECT_THAT(measured.statement, HasSubstr("1.2 times (logical). Measured: 500 B through L2 and 50 B"));

    data_.kernel_traffic.clear();
    EXPECT_THAT(finding(model::LogicalTraffic{240, 200}).statement, Not(HasSubstr("Measured")));
}

TEST_F(MeasuredTrafficTest, StillAbstainsWhereTheLeastTrafficIsUnknown) {
    EXPECT_EQ(finding(std::nullopt).outcome, model::Finding::Outcome::Abstains);
}

} // namespace
} // namespace deepjit::analyzers
