#include "src/wire/reader.hpp"

#include "tests/unit/wire/wire_file.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace deepjit::wire {
namespace {

Kernel kernel_number(std::uint32_t number) {
    Kernel kernel;
    kernel.site_id = 7;
    kernel.correlation_id = number;
    kernel.start_ns = 1'000 + number;
    kernel.end_ns = 2'000 + number;
    return kernel;
}

/// Five blocks of ten kernels.
std::string fifty_kernels() {
    WireFile file;
    for (std::uint32_t number = 0; number < 50; ++number) {
        file.add(kernel_number(number));
        if (number % 10 == 9) file.end_block(number / 10);
    }
    return file.contents();
}
constexpr std::size_t kBlockBytes = sizeof(BlockHeader) + 10 * sizeof(Kernel);

struct Contents {
    std::vector<std::uint32_t> kernels;
    std::size_t lost_bytes = 0;
};

Contents read_all(std::string_view bytes) {
    Contents contents;
    auto reader = Reader::over(bytes);
    if (!reader) return contents;
    while (const auto record = reader->next()) {
        if (const auto kernel = record->as<Kernel>()) contents.kernels.push_back(kernel->correlation_id);
    }
    contents.lost_bytes = reader->lost_bytes();
    return contents;
}

TEST(WireReader, GivesBackWhatWasEncoded) {
    const std::string odd_name = std::string("\0\n\"*/\xff", 6) + std::string(8 * 1024, 'n');
    HostCall call;
    call.header.flags = HostCall::kCapturing;
    call.api_id = 307;
    call.result = 719;
    call.correlation_id = 42;
    call.arguments_id = 9;
    call.start_ns = -5;
    call.end_ns = 1'700'000'000'000'000'000;
    String name;
    name.string_id = 3;
    WireFile file;
    file.add(call).end_block(1234).add(name, odd_name).add(kernel_number(8)).end_block(5);

    auto reader = Reader::over(file.contents());
    ASSERT_TRUE(reader);
    auto record = reader->next();
    ASSERT_TRUE(record);
    EXPECT_EQ(record->thread_id, 1234U);
    EXPECT_EQ(record->flags, HostCall::kCapturing);
    const auto call_again = record->as<HostCall>();
    ASSERT_TRUE(call_again);
    EXPECT_EQ(std::memcmp(&call_again->api_id, &call.api_id, sizeof call - sizeof call.header), 0);
    EXPECT_FALSE(record->as<Kernel>());

    record = reader->next();
    ASSERT_TRUE(record && record->as<String>());
    EXPECT_EQ(record->tail<String>(), odd_name);
    record = reader->next();
    ASSERT_TRUE(record && record->as<Kernel>());
    EXPECT_FALSE(reader->next());
    EXPECT_EQ(reader->lost_bytes(), 0U);
}

TEST(WireReader, CutsTailsThatDoNotFitARecord) {
    WireFile file;
    file.add(String{}, std::string(100'000, 'x')).end_block();
    auto reader = Reader::over(file.contents());
    ASSERT_TRUE(reader);
    const auto record = reader->next();
    ASSERT_TRUE(record && record->as<String>());
    EXPECT_EQ(record->tail<String>(), std::string(kMaxTailBytes, 'x'));
}

TEST(WireReader, LosesOnlyTheBlockThatIsCut) {
    const std::string whole = fifty_kernels();
    for (std::size_t size = sizeof(FileHeader); size <= whole.size(); ++size) {
        const Contents contents = read_all(std::string_view(whole).substr(0, size));
        const std::size_t blocks = (size - sizeof(FileHeader)) / kBlockBytes;
        ASSERT_EQ(contents.kernels.size(), blocks * 10) << size;
        ASSERT_EQ(contents.lost_bytes, (size - sizeof(FileHeader)) % kBlockBytes) << size;
    }
}

TEST(WireReader, RefusesWhatIsNoWireFile) {
    EXPECT_FALSE(Reader::over(""));
    const std::string whole = fifty_kernels();
    for (std::size_t size = 0; size < sizeof(FileHeader); ++size) {
        EXPECT_FALSE(Reader::over(std::string_view(whole).substr(0, size))) << size;
    }
    EXPECT_FALSE(Reader::over(std::string(4096, 'x')));
    std::string newer = whole;
    newer[8] = 99;
    const auto refused = Reader::over(newer);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().evidence.find("99"), std::string::npos);
}

TEST(WireReader, PassesOverADamagedBlockAndCountsIt) {
    const std::string whole = fifty_kernels();
    for (std::size_t at = sizeof(FileHeader); at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
        const std::size_t in_block = (at - sizeof(FileHeader)) % kBlockBytes;
        const bool is_thread_id = in_block >= 8 && in_block < 12; // no checksum covers it
        const Contents contents = read_all(damaged);
        ASSERT_EQ(contents.kernels.size(), is_thread_id ? 50U : 40U) << at;
        ASSERT_EQ(contents.lost_bytes, is_thread_id ? 0U : kBlockBytes) << at;
    }
}

TEST(WireReader, FindsNothingInGarbageAndEnds) {
    std::mt19937 random(1);
    const std::string header = fifty_kernels().substr(0, sizeof(FileHeader));
    for (int round = 0; round < 50; ++round) {
        std::string garbage(10'000, '\0');
        for (char& byte : garbage)
            byte = "DBLK\0\1\xff"[random() % 7];
        const Contents contents = read_all(header + garbage);
        EXPECT_TRUE(contents.kernels.empty());
        EXPECT_EQ(contents.lost_bytes, garbage.size());
    }
}

struct FutureRecord {
    static constexpr auto kKind = static_cast<RecordKind>(200);
    RecordHeader header;
    std::uint64_t unknown = 1;
};

TEST(WireReader, SkipsRecordsOfUnknownKindAndFieldsOfLaterVersions) {
    WireFile file;
    file.add(FutureRecord{}).add(kernel_number(3), "appended field").end_block();
    const Contents contents = read_all(file.contents());
    EXPECT_EQ(contents.kernels, std::vector<std::uint32_t>{3});
    EXPECT_EQ(contents.lost_bytes, 0U);
}

TEST(WireReader, EndsABlockAtARecordOfImpossibleSize) {
    // A valid checksum over nonsense: only a broken writer makes it.
    std::vector<std::byte> payload(sizeof(Kernel) + 4);
    encode(payload.data(), kernel_number(1));
    for (const std::uint16_t size : {std::uint16_t{0}, std::uint16_t{3}, std::uint16_t{500}}) {
        const RecordHeader bad{RecordKind::Kernel, 0, size};
        std::memcpy(payload.data() + sizeof(Kernel), &bad, sizeof bad);
        const BlockHeader block = block_header(0, payload);
        std::string bytes = fifty_kernels().substr(0, sizeof(FileHeader));
        bytes.append(reinterpret_cast<const char*>(&block), sizeof block);
        bytes.append(reinterpret_cast<const char*>(payload.data()), payload.size());
        const Contents contents = read_all(bytes);
        EXPECT_EQ(contents.kernels, std::vector<std::uint32_t>{1});
        EXPECT_EQ(contents.lost_bytes, 4U);
    }
}

} // namespace
} // namespace deepjit::wire
