#include "src/tracer/image_extent.hpp"

#include "src/base/image_format.hpp"
#include "tests/fake_cuda/device_image.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace deepjit::tracer {
namespace {

using namespace image_format;

/// Bytes that end right before memory that cannot be read.
class GuardedBytes {
  public:
    explicit GuardedBytes(const std::string& bytes) {
        const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t whole = (bytes.size() + page - 1) / page * page;
        mapped_bytes_ = whole + page;
        memory_ = static_cast<char*>(
            mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(memory_ + whole, page, PROT_NONE);
        start_ = memory_ + whole - bytes.size();
        std::memcpy(start_, bytes.data(), bytes.size());
    }
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;
    ~GuardedBytes() { munmap(memory_, mapped_bytes_); }
    const char* get() const { return start_; }

  private:
    char* memory_ = nullptr;
    char* start_ = nullptr;
    std::size_t mapped_bytes_ = 0;
};

const std::vector<std::string> kKernels = {"_Z5scalePf", "plain"};

void expect_whole(const std::string& bytes, wire::ImageKind kind) {
    const GuardedBytes image(bytes);
    const ImageExtent extent = image_extent(image.get());
    ASSERT_NE(extent.data, nullptr);
    EXPECT_EQ(extent.bytes, bytes.size());
    EXPECT_EQ(extent.kind, kind);
    EXPECT_EQ(std::memcmp(extent.data, bytes.data(), bytes.size()), 0);
}

TEST(ImageExtent, OfACubinIsTheEndOfItsTables) {
    expect_whole(fake_cuda::cubin_with(kKernels), wire::ImageKind::Cubin);
}

TEST(ImageExtent, OfAFatBinaryStandsInItsHeader) {
    expect_whole(fake_cuda::fat_binary_with(kKernels), wire::ImageKind::FatBinary);
}

TEST(ImageExtent, OfPtxEndsBeforeItsTerminator) {
    for (const std::size_t padding : {0U, 3'000U, 4'096U, 100'000U}) {
        const std::string text = fake_cuda::ptx_with(kKernels) + std::string(padding, ' ');
        const GuardedBytes image(text + '\0');
        const ImageExtent extent = image_extent(image.get());
        EXPECT_EQ(extent.bytes, text.size());
        EXPECT_EQ(extent.kind, wire::ImageKind::Ptx);
    }
}

TEST(ImageExtent, IsFoundBehindTheWrapperOfNvcc) {
    const std::string bytes = fake_cuda::fat_binary_with(kKernels);
    const GuardedBytes image(bytes);
    FatBinaryWrapper wrapper{FatBinaryWrapper::kMagic, 1, image.get(), nullptr};
    const ImageExtent extent = image_extent(&wrapper);
    EXPECT_EQ(static_cast<const void*>(extent.data), image.get());
    EXPECT_EQ(extent.bytes, bytes.size());
    wrapper.fat_binary = nullptr;
    EXPECT_EQ(image_extent(&wrapper).data, nullptr);
}

TEST(ImageExtent, IsUnknownForOtherBytesAndUnreadableMemory) {
    EXPECT_EQ(image_extent(nullptr).data, nullptr);
    EXPECT_EQ(image_extent(reinterpret_cast<const void*>(16)).data, nullptr);
    for (const std::string& bytes :
         {std::string("plain text\0", 11), std::string(64, '\0'), std::string("text that does not end"),
          std::string("\x7f"
                      "ELF",
                      4)}) {
        const GuardedBytes image(bytes);
        EXPECT_EQ(image_extent(image.get()).data, nullptr) << bytes;
    }
}

TEST(ImageExtent, OfACutImageIsUnknownOrNoLongerThanItsTablesSay) {
    const std::string cubin = fake_cuda::cubin_with(kKernels);
    for (std::size_t bytes = 4; bytes < cubin.size(); ++bytes) {
        const GuardedBytes image(cubin.substr(0, bytes));
        EXPECT_EQ(image_extent(image.get()).data, nullptr) << bytes;
    }
}

TEST(ImageExtent, OfImagesWithChangedHeadersNeverFaults) {
    std::mt19937 random(3);
    for (const std::string& whole : {fake_cuda::cubin_with(kKernels), fake_cuda::fat_binary_with(kKernels)}) {
        for (int round = 0; round < 2'000; ++round) {
            std::string changed = whole;
            for (int i = 0; i < 3; ++i)
                changed[4 + random() % (changed.size() - 4)] = static_cast<char>(random());
            const GuardedBytes image(changed);
            EXPECT_LE(image_extent(image.get()).bytes, kMaxImageBytes);
        }
    }
}

} // namespace
} // namespace deepjit::tracer
