#include "src/base/files.hpp"
#include "src/base/hash.hpp"
#include "src/ingest/module_images.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <fstream>
#include <optional>

namespace deepjit::ingest {
namespace {

namespace fs = std::filesystem;

class ModuleImagesTest : public testing::Test {
  protected:
    void SetUp() override { folder_ = *make_temporary_directory("deepjit-test-images"); }
    void TearDown() override { fs::remove_all(folder_); }

    wire::ModuleImage image(wire::ImageKind kind, const std::string& contents) {
        const std::string hash = hash_hex(contents);
        std::ofstream(folder_ / ("image-" + hash + ".bin"), std::ios::binary) << contents;
        wire::ModuleImage record;
        for (std::size_t i = 0; i < sizeof record.hash; ++i)
            std::from_chars(hash.data() + 2 * i, hash.data() + 2 * i + 2, record.hash[i], 16);
        record.bytes = contents.size();
        record.kind = kind;
        record.source = wire::ImageSource::LoadCall;
        return record;
    }
    trace::Trace finish() {
        EXPECT_TRUE(writer_->finish());
        return *trace::Trace::open(folder_ / "trace.db");
    }
    std::vector<std::string> kernels_in(const trace::Trace& trace) {
        std::vector<std::string> names;
        for (const trace::ModuleKernel& kernel : trace.module_kernels().value_or({}))
            names.push_back(kernel.mangled_name);
        return names;
    }

    fs::path folder_;
    std::optional<trace::TraceWriter> writer_;
    ModuleImages& images() {
        if (!images_) {
            writer_ = *trace::TraceWriter::create(folder_ / "trace.db");
            images_.emplace(*writer_, folder_);
        }
        return *images_;
    }

  private:
    std::optional<ModuleImages> images_;
};

const std::string kPtx = ".version 8.0\n.target sm_90\n.visible .entry _Z1av()\n{ ret; }\n";

TEST_F(ModuleImagesTest, AnImageOfTwoProcessesIsStoredOnceWithBothLoads) {
    const wire::ModuleImage record = image(wire::ImageKind::Ptx, kPtx);
    images().add(record, "", 7);
    images().add(record, "/a.ptx", 8);
    images().add_launched_kernel("_Z1av");
    images().add_launched_kernel("_Z7missingv");
    const ModuleImageSummary summary = images().summary();
    EXPECT_EQ(summary.images, 1);
    EXPECT_EQ(summary.launched_kernels, 2);
    EXPECT_EQ(summary.kernels_without_image, 1);
    EXPECT_EQ(summary.missing_images, 0);

    const trace::Trace trace = finish();
    const auto loads = *trace.module_loads();
    ASSERT_EQ(loads.size(), 2U);
    EXPECT_EQ(loads[1].path, "/a.ptx");
    EXPECT_EQ(trace.module_image(loads[0].image_id)->bytes, kPtx);
    EXPECT_THAT(kernels_in(trace), testing::ElementsAre("_Z1av"));
}

TEST_F(ModuleImagesTest, AFatBinaryHoldsTheKernelsOfItsCubinsAndItsPtx) {
    const std::string contents =
        *read_file(DEEPJIT_SOURCE_DIR "/tests/fixtures/device_code/zstandard.fatbin");
    images().add(image(wire::ImageKind::FatBinary, contents), "", 7);
    EXPECT_THAT(kernels_in(finish()),
                testing::ElementsAre("_Z5scaleILi4EEvPff", "_Z5scaleILi7EEvPff", "plain"));
}

TEST_F(ModuleImagesTest, AnImageThatIsMissingChangedOrALinkIsCountedAndLeftOut) {
    wire::ModuleImage missing = image(wire::ImageKind::Ptx, "gone");
    fs::remove(folder_ / ("image-" + hash_hex("gone") + ".bin"));
    const wire::ModuleImage changed = image(wire::ImageKind::Ptx, "as it was");
    std::ofstream(folder_ / ("image-" + hash_hex("as it was") + ".bin")) << "as it is";
    const wire::ModuleImage linked = image(wire::ImageKind::Ptx, "linked");
    const fs::path link = folder_ / ("image-" + hash_hex("linked") + ".bin");
    fs::rename(link, folder_ / "elsewhere");
    fs::create_symlink(folder_ / "elsewhere", link);
    for (const auto& record : {missing, changed, linked})
        images().add(record, "", 7);
    images().add(missing, "", 8);
    EXPECT_EQ(images().summary().missing_images, 3);
    EXPECT_EQ(images().summary().images, 0);
    EXPECT_TRUE(finish().module_loads()->empty());
}

TEST_F(ModuleImagesTest, ADamagedImageIsKeptWithoutKernels) {
    images().add(image(wire::ImageKind::Cubin, "\x7f"
                                               "ELF and then nothing of the kind"),
                 "", 7);
    images().add(image(wire::ImageKind::FatBinary, "short"), "", 7);
    EXPECT_EQ(images().summary().images, 2);
    EXPECT_TRUE(kernels_in(finish()).empty());
}

TEST_F(ModuleImagesTest, WhatTheTracersCouldNotStoreIsSummedUp) {
    images().add(wire::ModuleImageTotals{{}, 10, 2, 1});
    images().add(wire::ModuleImageTotals{{}, 5, 3, 0});
    EXPECT_EQ(images().summary().unreadable_images, 5);
    EXPECT_EQ(images().summary().missing_images, 1);
}

} // namespace
} // namespace deepjit::ingest
