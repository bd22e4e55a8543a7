#include "src/base/hash.hpp"
#include "src/trace/trace.hpp"
#include "tests/unit/trace/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <random>

namespace deepjit::trace {
namespace {

class ModuleRows : public testing::Test {
  protected:
    ModuleImage image_of(std::string bytes, ImageKind kind = ImageKind::Cubin) const {
        return {0, hash_hex(bytes), kind, std::move(bytes)};
    }
    Trace read_back() {
        const auto finished = writer_.finish();
        EXPECT_TRUE(finished) << finished.error().message << finished.error().evidence;
        return *Trace::open(path_);
    }
    void run_sql(const std::string& sql) const {
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
        sqlite3_close(database);
    }

    TemporaryFolder folder_;
    std::filesystem::path path_ = folder_ / "trace.db";
    TraceWriter writer_ = *TraceWriter::create(path_);
};

std::string random_bytes(std::size_t count) {
    std::mt19937 random(7);
    std::string bytes(count, '\0');
    for (char& byte : bytes)
        byte = static_cast<char>(random());
    return bytes;
}

TEST_F(ModuleRows, an_image_comes_back_byte_for_byte_whether_it_compresses_or_not) {
    const std::string easy(2'000'000, 'a');
    const std::string hard = random_bytes(100'000);
    const auto first = writer_.add_module_image(image_of(easy));
    const auto second = writer_.add_module_image(image_of(hard, ImageKind::FatBinary));
    const auto third = writer_.add_module_image(image_of("x", ImageKind::Ptx));
    const Trace trace = read_back();
    EXPECT_LT(std::filesystem::file_size(path_), easy.size() / 2);
    EXPECT_EQ(trace.module_image(first)->bytes, easy);
    EXPECT_EQ(trace.module_image(second)->bytes, hard);
    EXPECT_EQ(trace.module_image(second)->kind, ImageKind::FatBinary);
    EXPECT_EQ(trace.module_image(third)->bytes, "x");
    EXPECT_EQ(trace.module_image(third)->hash, hash_hex("x"));
    EXPECT_FALSE(trace.module_image(99));
}

TEST_F(ModuleRows, an_image_is_stored_once_and_each_of_its_loads_is_kept) {
    const auto first = writer_.add_module_image(image_of("same"));
    EXPECT_EQ(writer_.add_module_image(image_of("same")), first);
    writer_.add(ModuleLoad{first, ImageSource::ModuleLoaded, "", 12, 7});
    writer_.add(ModuleLoad{first, ImageSource::File, "/a 'b'.cubin", 0, 8});
    writer_.add(ModuleKernel{first, "_Z1av"});
    writer_.add(ModuleKernel{first, "_Z1av"});
    writer_.add(ModuleKernel{first, "_Z1bv"});
    const Trace trace = read_back();
    const auto loads = *trace.module_loads();
    ASSERT_EQ(loads.size(), 2U);
    EXPECT_EQ(loads[0].module_id, 12U);
    EXPECT_EQ(loads[0].source, ImageSource::ModuleLoaded);
    EXPECT_EQ(loads[1].process_id, 8U);
    EXPECT_EQ(loads[1].source, ImageSource::File);
    EXPECT_EQ(loads[1].path, "/a 'b'.cubin");
    const auto kernels = *trace.module_kernels();
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[0].mangled_name, "_Z1av");
    EXPECT_EQ(kernels[1].image_id, first);
}

TEST_F(ModuleRows, an_image_whose_bytes_were_changed_is_refused) {
    const auto easy = writer_.add_module_image(image_of(std::string(1000, 'a')));
    const auto hard = writer_.add_module_image(image_of("short"));
    ASSERT_TRUE(writer_.finish());
    run_sql("UPDATE module_image_entry SET data = CAST('sHort' AS BLOB) WHERE hash = '" + hash_hex("short") +
            "'");
    run_sql("UPDATE module_image_entry SET bytes = 999 WHERE compression = 'zlib'");
    const Trace trace = *Trace::open(path_);
    EXPECT_EQ(trace.module_image(hard).error().evidence, "its bytes do not have its hash");
    EXPECT_EQ(trace.module_image(easy).error().evidence, "it cannot be decompressed");
    run_sql("UPDATE module_image_entry SET bytes = 1000000000000");
    EXPECT_EQ(Trace::open(path_)->module_image(easy).error().evidence, "its size cannot be");
}

TEST_F(ModuleRows, a_graph_launch_comes_back_with_every_field) {
    GraphLaunch launch;
    launch.start_ns = 100;
    launch.end_ns = 350;
    launch.graph_id = 3;
    launch.correlation_id = 26;
    launch.stream_id = 13;
    launch.context_id = 1;
    launch.device_id = 2;
    launch.process_id = 7;
    writer_.add(launch);
    const auto launches = *read_back().graph_launches();
    ASSERT_EQ(launches.size(), 1U);
    EXPECT_EQ(launches[0].start_ns, 100);
    EXPECT_EQ(launches[0].end_ns, 350);
    EXPECT_EQ(launches[0].graph_id, 3U);
    EXPECT_EQ(launches[0].correlation_id, 26U);
    EXPECT_EQ(launches[0].stream_id, 13U);
    EXPECT_EQ(launches[0].context_id, 1U);
    EXPECT_EQ(launches[0].device_id, 2U);
    EXPECT_EQ(launches[0].process_id, 7U);
}

} // namespace
} // namespace deepjit::trace
