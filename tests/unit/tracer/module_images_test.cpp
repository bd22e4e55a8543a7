#include "tests/fake_cuda/device_image.hpp"
#include "tests/unit/tracer/traced_program.hpp"

#include "src/base/hash.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include <sys/resource.h>
#include <sys/stat.h>

namespace deepjit::tracer {
namespace {

class TracedImages : public Tracer {
  protected:
    std::size_t files_named(const std::string& part) {
        return static_cast<std::size_t>(
            std::count_if(fs::directory_iterator(folder_), fs::directory_iterator(), [&](const auto& entry) {
                return entry.path().filename().string().find(part) != std::string::npos;
            }));
    }
    /// The image that was loaded in that way; empty where there is none or several.
    std::string image_from(trace::ImageSource source) {
        const trace::Trace opened = trace();
        std::string bytes;
        int found = 0;
        for (const trace::ModuleLoad& load : opened.module_loads().value_or({})) {
            if (load.source != source) continue;
            ++found;
            bytes = opened.module_image(load.image_id)->bytes;
        }
        return found == 1 ? bytes : std::string();
    }
};

class ImageForms : public TracedImages, public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(ImageForms, AreStoredByteForByteWithTheirKernels) {
    const fs::path given = folder_ / "given";
    std::vector<std::string> options = {"--frames", "2", "--kernels", "3", "--image-to", given.string()};
    options.insert(options.end(), GetParam().begin(), GetParam().end());
    EXPECT_EQ(launch(options, {{"FAKE_CUDA_NO_MODULE_CALLBACK", "1"}}).code, 0);
    const auto summary = import();
    EXPECT_EQ(summary.modules.images, 1);
    EXPECT_EQ(summary.modules.unreadable_images, 0);
    EXPECT_EQ(summary.modules.launched_kernels, 3);
    EXPECT_EQ(summary.modules.kernels_without_image, 0);
    const bool from_file = GetParam().at(1) == "file";
    EXPECT_EQ(image_from(from_file ? trace::ImageSource::File : trace::ImageSource::LoadCall),
              *read_file(given));
    EXPECT_EQ(trace().module_loads()->at(0).path, from_file ? given.string() : "");
}

INSTANTIATE_TEST_SUITE_P(, ImageForms,
                         testing::Values(std::vector<std::string>{"--image", "ptx"},
                                         std::vector<std::string>{"--image", "cubin"},
                                         std::vector<std::string>{"--image", "fat-binary"},
                                         std::vector<std::string>{"--image", "wrapper", "--library"},
                                         std::vector<std::string>{"--image", "file"},
                                         std::vector<std::string>{"--image", "file", "--library"}));

TEST_F(TracedImages, TheCubinThatCuptiHandsOutIsStoredWithItsModuleId) {
    EXPECT_EQ(launch({"--frames", "1", "--kernels", "5", "--odd-names"}).code, 0);
    const auto summary = import();
    EXPECT_EQ(summary.modules.images, 2); // the PTX and what became of it
    EXPECT_EQ(summary.modules.kernels_without_image, 0);
    EXPECT_EQ(image_from(trace::ImageSource::ModuleLoaded).substr(0, 4), "\x7f"
                                                                         "ELF");
    const trace::Trace opened = trace();
    for (const trace::ModuleLoad& load : opened.module_loads().value_or({}))
        EXPECT_EQ(load.module_id, load.source == trace::ImageSource::ModuleLoaded ? 23U : 0U);
    int overheads = 0;
    for (const trace::Overhead& overhead : opened.overheads().value_or({}))
        if (overhead.kind == "deepjit module image") ++overheads;
    EXPECT_EQ(overheads, 2);
}

TEST_F(TracedImages, ImagesOfSeveralProcessesAreOneFileForTheOwnerAlone) {
    EXPECT_EQ(launch({"--frames", "1", "--kernels", "3"}).code, 0);
    EXPECT_EQ(launch({"--frames", "1", "--kernels", "3"}).code, 0);
    EXPECT_EQ(recordings(), 2U);
    EXPECT_EQ(files_named("image-"), 2U);
    EXPECT_EQ(files_named(".tmp"), 0U);
    for (const auto& entry : fs::directory_iterator(folder_)) {
        struct stat status {};
        ASSERT_EQ(stat(entry.path().c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777U, 0600U) << entry.path();
    }
    EXPECT_EQ(import().modules.images, 2);
    EXPECT_EQ(trace().module_loads()->size(), 4U);
}

TEST_F(TracedImages, UnknownContainersAreCountedAndKernelsWithoutAnImageToo) {
    for (const char* image : {"unknown", "cut-cubin"})
        EXPECT_EQ(launch({"--frames", "1", "--kernels", "3", "--image", image},
                         {{"FAKE_CUDA_NO_MODULE_CALLBACK", "1"}})
                      .code,
                  0);
    const auto summary = import();
    EXPECT_EQ(summary.modules.images, 0);
    EXPECT_EQ(summary.modules.unreadable_images, 2);
    EXPECT_EQ(summary.modules.kernels_without_image, 3);
    EXPECT_EQ(summary.kernels_recorded, 6);
}

TEST_F(TracedImages, AreLeftOutWhereAskedFor) {
    EXPECT_EQ(launch({"--frames", "1", "--kernels", "3"}, {{"DEEPJIT_TRACER_NO_MODULES", "1"}}).code, 0);
    EXPECT_EQ(files_named("image-"), 0U);
    const auto summary = import();
    EXPECT_EQ(summary.modules.images, 0);
    EXPECT_EQ(summary.modules.unreadable_images, 0);
}

TEST_F(TracedImages, AKilledProcessLeavesWholeImages) {
    EXPECT_EQ(
        launch({"--frames", "100", "--kernels", "3", "--frame-pause-us", "5000", "--end", "kill"}).signal,
        SIGKILL);
    const auto summary = import();
    EXPECT_EQ(summary.modules.images, 2);
    EXPECT_EQ(summary.modules.missing_images, 0);
}

TEST_F(TracedImages, ASymbolicLinkInTheirPlaceIsNotFollowed) {
    const fs::path given = folder_ / "given";
    EXPECT_EQ(launch({"--frames", "1", "--kernels", "3", "--image-to", given.string()}).code, 0);
    const fs::path name = folder_ / ("image-" + hash_hex(*read_file(given)) + ".bin");
    ASSERT_TRUE(fs::exists(name));
    fs::remove(name);
    std::ofstream(folder_ / "bystander") << "untouched";
    fs::create_symlink(folder_ / "bystander", name);
    EXPECT_EQ(launch({"--frames", "1", "--kernels", "3"}).code, 0);
    EXPECT_EQ(*read_file(folder_ / "bystander"), "untouched");
    EXPECT_FALSE(fs::is_symlink(name)); // a rename replaces the link itself
}

class GraphNodesByHand : public Tracer {
  protected:
    fs::path expected_ = folder_;
    ingest::ImportSummary record(Environment extra = {}) {
        expected_ = folder_ / "arguments.txt";
        EXPECT_EQ(run_program("fake_cuda_graph_nodes", {expected_.string()}, std::move(extra)).status.code,
                  0);
        return import();
    }
};

TEST_F(GraphNodesByHand, HaveTheArgumentsThatTheyHeldAtEachLaunch) {
    EXPECT_EQ(record().kernels_recorded, 15);
    EXPECT_EQ(arguments_of_kernels(), lines_of(expected_));
    const auto ops = *trace().memory_ops();
    ASSERT_EQ(ops.size(), 5U);
    for (const trace::MemoryOp& op : ops) {
        EXPECT_EQ(op.source_address, 0x1010U);
        EXPECT_EQ(op.destination_address, 0x4000U);
        EXPECT_EQ(op.bytes, 64);
    }
}

TEST_F(GraphNodesByHand, AreUnknownAfterAnUpdateThatAnOlderCuptiDoesNotTell) {
    record({{"FAKE_CUDA_CUPTI_VERSION", "120400"}, {"FAKE_CUDA_DRIVER_VERSION", "12040"}});
    const auto expected = lines_of(expected_);
    const auto found = arguments_of_kernels();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const bool before_the_first_update = i < 3;
        const bool of_the_new_executable = i >= 12;
        EXPECT_EQ(found[i], before_the_first_update || of_the_new_executable ? expected[i] : "-") << i;
    }
}

TEST_F(GraphNodesByHand, GraphLevelRecordsOneRowForEachLaunch) {
    const auto summary = record({{"DEEPJIT_TRACER_GRAPH_LEVEL", "1"}});
    EXPECT_EQ(summary.kernels_recorded, 0);
    EXPECT_EQ(summary.graph_launches, 5);
    EXPECT_EQ(summary.launches_called, 5);
    const trace::Trace opened = trace();
    const auto launches = *opened.graph_launches();
    ASSERT_EQ(launches.size(), 5U);
    std::set<std::uint32_t> graphs;
    for (const trace::GraphLaunch& launch : launches) {
        EXPECT_GT(launch.start_ns, 0);
        EXPECT_GT(launch.end_ns, launch.start_ns);
        EXPECT_NE(launch.correlation_id, 0U);
        graphs.insert(launch.graph_id);
    }
    EXPECT_EQ(graphs.size(), 2U); // it was instantiated twice
    EXPECT_TRUE(opened.memory_ops()->empty());
}

} // namespace
} // namespace deepjit::tracer
