#include "src/base/files.hpp"
#include "src/base/image_format.hpp"
#include "src/ingest/cubin.hpp"
#include "src/ingest/fat_binary.hpp"
#include "src/ingest/lz4_block.hpp"
#include "src/ingest/ptx_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace deepjit::ingest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string fixture(const std::string& name) {
    return *read_file(std::string(DEEPJIT_SOURCE_DIR "/tests/fixtures/device_code/") + name);
}

/// The cubin for sm_90 of tests/fixtures/device_code.
std::string real_cubin() {
    return read_fat_binary(fixture("zstandard.fatbin"))->at(0).code;
}

class FatBinaries : public testing::TestWithParam<const char*> {};

TEST_P(FatBinaries, OfNvccAreReadWithTheirCompression) {
    const auto entries = read_fat_binary(fixture(GetParam()));
    ASSERT_TRUE(entries) << entries.error().evidence;
    ASSERT_EQ(entries->size(), 2U);
    EXPECT_EQ((*entries)[0].kind, FatBinaryEntry::Kind::Cubin);
    EXPECT_EQ((*entries)[0].architecture, 90U);
    EXPECT_THAT(*kernels_of_cubin((*entries)[0].code),
                UnorderedElementsAre("plain", "_Z5scaleILi4EEvPff", "_Z5scaleILi7EEvPff"));
    EXPECT_EQ((*entries)[1].kind, FatBinaryEntry::Kind::Ptx);
    EXPECT_THAT(kernels_of_ptx((*entries)[1].code),
                UnorderedElementsAre("plain", "_Z5scaleILi4EEvPff", "_Z5scaleILi7EEvPff"));
}

TEST_P(FatBinaries, CutAnywhereAreRefusedWithoutReadingBeyondTheirEnd) {
    const std::string whole = fixture(GetParam());
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += bytes < 300 ? 1 : 97) {
        const std::vector<char> exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
        EXPECT_FALSE(read_fat_binary({exact.data(), exact.size()})) << bytes;
    }
}

TEST_P(FatBinaries, WithChangedBytesNeverCrash) {
    const std::string whole = fixture(GetParam());
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        std::string changed = whole;
        for (int i = 0; i < 4; ++i)
            changed[random() % (round % 2 == 0 ? 200 : changed.size())] = static_cast<char>(random());
        const auto entries = read_fat_binary(changed).value_or({});
        for (const FatBinaryEntry& entry : entries)
            (void)kernels_of_cubin(entry.code);
    }
}

INSTANTIATE_TEST_SUITE_P(, FatBinaries, testing::Values("zstandard.fatbin", "lz4.fatbin"));

TEST(FatBinary, SeveralOneAfterAnotherAreReadAsOne) {
    const auto entries = read_fat_binary(fixture("lz4.fatbin") + fixture("zstandard.fatbin"));
    ASSERT_TRUE(entries);
    EXPECT_EQ(entries->size(), 4U);
    EXPECT_EQ((*entries)[1].code, (*entries)[3].code);
}

TEST(FatBinary, AnEntryThatSaysToBeHugeIsRefused) {
    std::string image = fixture("zstandard.fatbin");
    const std::uint64_t huge = std::uint64_t{1} << 50U;
    std::memcpy(image.data() + 16 + 56, &huge, sizeof huge); // decompressed_bytes of the first entry
    EXPECT_EQ(read_fat_binary(image).error().evidence, "an entry cannot be decompressed");
    std::memcpy(image.data() + 16 + 8, &huge, sizeof huge); // payload_bytes
    EXPECT_FALSE(read_fat_binary(image));
}

TEST(Cubin, CutBeforeTheEndOfItsSectionTableIsRefused) {
    const std::string whole = real_cubin();
    image_format::ElfHeader header;
    std::memcpy(&header, whole.data(), sizeof header);
    const std::size_t table_end =
        header.section_table_offset + header.section_count * sizeof(image_format::ElfSection);
    ASSERT_LE(table_end, whole.size());
    for (std::size_t bytes = 0; bytes < table_end; bytes += bytes < 100 ? 1 : 61) {
        const std::vector<char> exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
        EXPECT_FALSE(kernels_of_cubin({exact.data(), exact.size()})) << bytes;
    }
}

TEST(Cubin, WithChangedHeadersNeverReadsOutside) {
    const std::string whole = real_cubin();
    image_format::ElfHeader header;
    std::memcpy(&header, whole.data(), sizeof header);
    const std::size_t table = header.section_table_offset;
    std::mt19937 random(5);
    for (int round = 0; round < 2000; ++round) {
        std::vector<char> changed(whole.begin(), whole.end());
        for (int i = 0; i < 3; ++i) {
            const std::size_t at = round % 2 == 0 ? random() % 64 : table + random() % (whole.size() - table);
            changed[at] = static_cast<char>(random());
        }
        (void)kernels_of_cubin({changed.data(), changed.size()});
    }
}

TEST(Cubin, AnElfFileOfTheHostIsRefused) {
    const auto kernels = kernels_of_cubin(*read_file("/proc/self/exe"));
    ASSERT_FALSE(kernels);
    EXPECT_EQ(kernels.error().evidence, "it is an ELF file for another machine");
}

TEST(PtxText, NamesInCommentsStringsAndOtherDirectivesAreNoKernels) {
    EXPECT_THAT(kernels_of_ptx("// .entry commented(\n/* .entry also */ .version 8.0\n.target sm_90\n"
                               ".func helper() { }\n.visible .entry first(\n.param .u64 p)\n"
                               ".file 1 \".entry quoted\"\n.weak .entry\n/* c */ second$1\n( ) { }\n"
                               ".entry first()\n.entryway x\n"),
                ElementsAre("first", "second$1"));
}

TEST(PtxText, BrokenTextHasTheKernelsBeforeTheBreak) {
    EXPECT_THAT(kernels_of_ptx(".entry a() .entry"), ElementsAre("a"));
    EXPECT_THAT(kernels_of_ptx(".entry a() /* .entry b()"), ElementsAre("a"));
    EXPECT_THAT(kernels_of_ptx(".entry (x)"), IsEmpty());
    EXPECT_THAT(kernels_of_ptx(std::string_view("\0\xff.entry", 8)), IsEmpty());
    EXPECT_THAT(kernels_of_ptx(""), IsEmpty());
}

TEST(Lz4Block, MatchesMayOverlapWhatTheyWrite) {
    // Three literals, then 12 bytes from distance 3, then the last two literals.
    const std::string block = std::string("\x38"
                                          "abc"
                                          "\x03\x00",
                                          6) +
                              std::string("\x20"
                                          "yz",
                                          3);
    EXPECT_EQ(decompress_lz4_block(block, 17), "abcabcabcabcabcyz");
    EXPECT_EQ(decompress_lz4_block(block, 16), std::nullopt);
    EXPECT_EQ(decompress_lz4_block(block, 18), std::nullopt);
}

TEST(Lz4Block, LongLengthsGoOnInBytes) {
    const std::string literals(15 + 255 + 7, 'q');
    EXPECT_EQ(decompress_lz4_block(std::string("\xf0\xff\x07", 3) + literals, literals.size()), literals);
}

TEST(Lz4Block, DistancesBeforeTheStartAndCutBlocksAreRefused) {
    EXPECT_EQ(decompress_lz4_block(std::string("\x10"
                                               "a"
                                               "\x02\x00",
                                               4),
                                   5),
              std::nullopt);
    EXPECT_EQ(decompress_lz4_block(std::string("\x10"
                                               "a"
                                               "\x00\x00",
                                               4),
                                   5),
              std::nullopt);
    EXPECT_EQ(decompress_lz4_block("\xf0\xff", 300), std::nullopt);
    EXPECT_EQ(decompress_lz4_block("\x50"
                                   "ab",
                                   5),
              std::nullopt);
    EXPECT_EQ(decompress_lz4_block("", 0), "");
}

} // namespace
} // namespace deepjit::ingest
