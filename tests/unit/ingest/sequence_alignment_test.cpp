#include "src/ingest/sequence_alignment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace deepjit::ingest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Sequence = std::vector<std::uint32_t>;
using Pair = std::pair<std::size_t, std::size_t>;

TEST(AlignSequences, PairsEqualSequencesPlaceByPlace) {
    EXPECT_THAT(align_sequences(Sequence{7, 8, 7}, Sequence{7, 8, 7}),
                ElementsAre(Pair{0, 0}, Pair{1, 1}, Pair{2, 2}));
    EXPECT_THAT(align_sequences(Sequence{}, Sequence{1}), IsEmpty());
}

TEST(AlignSequences, PassesOverWhatOnlyOneHas) {
    EXPECT_THAT(align_sequences(Sequence{1, 9, 9, 2, 3, 4, 5}, Sequence{1, 2, 3, 4, 5}),
                ElementsAre(Pair{0, 0}, Pair{3, 1}, Pair{4, 2}, Pair{5, 3}, Pair{6, 4}));
    EXPECT_THAT(align_sequences(Sequence{1, 2, 3, 4, 5}, Sequence{9, 1, 2, 3, 4, 5}),
                ElementsAre(Pair{0, 1}, Pair{1, 2}, Pair{2, 3}, Pair{3, 4}, Pair{4, 5}));
}

TEST(AlignSequences, AShorterSequenceEndsThePairs) {
    EXPECT_THAT(align_sequences(Sequence{1, 2, 1, 2}, Sequence{1, 2}), ElementsAre(Pair{0, 0}, Pair{1, 1}));
}

TEST(AlignSequences, AFewEqualElementsInDifferentSequencesAreChance) {
    EXPECT_THAT(align_sequences(Sequence{1, 2, 3, 4, 5, 6, 7}, Sequence{9, 8, 3, 4, 9, 8, 9, 8}), IsEmpty());
}

TEST(AlignSequences, EveryPairHoldsTheSameElementAndPlacesOnlyGrow) {
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        const auto draw = [&] {
            Sequence sequence(random() % 60);
            for (auto& element : sequence)
                element = static_cast<std::uint32_t>(random() % 4);
            return sequence;
        };
        const Sequence a = draw();
        const Sequence b = draw();
        const auto pairs = align_sequences(a, b);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            EXPECT_EQ(a[pairs[i].first], b[pairs[i].second]);
            if (i == 0) continue;
            EXPECT_LT(pairs[i - 1].first, pairs[i].first);
            EXPECT_LT(pairs[i - 1].second, pairs[i].second);
        }
    }
}

TEST(AlignSequences, GivesUpWhereNothingAgreesNearby) {
    Sequence a(2000);
    std::iota(a.begin(), a.end(), 0U);
    Sequence b = a;
    b.insert(b.begin() + 10, kMaxSkip + 1, 5000U);
    EXPECT_EQ(align_sequences(a, b).size(), 10U);
    b.erase(b.begin() + 10);
    EXPECT_EQ(align_sequences(a, b).size(), 2000U);
}

} // namespace
} // namespace deepjit::ingest
