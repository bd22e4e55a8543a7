#include "src/trace/trace.hpp"
#include "tests/unit/trace/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace deepjit::trace {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// What a person sees who opens the trace with sqlite3.
class Views : public testing::Test {
  protected:
    void SetUp() override {
        TraceWriter writer = *TraceWriter::create(path_);
        KernelConfig config;
        config.name = "scale(float*)";
        config.mangled_name = "_Z5scalePf";
        config.grid = {132, 1, 1};
        config.block = {256, 1, 1};
        const std::int64_t config_id = writer.add_kernel_config(config);
        Arguments arguments;
        arguments.parameters = {{0, 2}, {2, 1}};
        arguments.bytes = "abc";
        Kernel kernel;
        kernel.config_id = config_id;
        kernel.arguments_id = writer.add_arguments(arguments);
        kernel.process_id = 7;
        // Two kernels overlap (100-200 and 150-300), one copy follows at 400, one kernel at 600; one has no
        // time.
        const std::array<std::pair<int, int>, 4> spans = {{{150, 300}, {100, 200}, {600, 650}, {0, 0}}};
        for (std::size_t i = 0; i < spans.size(); ++i) {
            kernel.kernel_id = static_cast<std::int64_t>(i) + 1;
            kernel.start_ns = spans[i].first;
            kernel.end_ns = spans[i].second;
            kernel.correlation_id = static_cast<std::uint32_t>(i) + 1;
            kernel.call_id = i == 0 ? 2 : 0;
            writer.add(kernel);
        }
        HostCall call;
        call.process_id = 7;
        call.api = "cuLaunchKernel";
        call.category = CallCategory::Launch;
        call.start_ns = 90;
        call.end_ns = 95;
        for (const bool capturing : {true, false, false}) {
            call.capturing = capturing;
            call.correlation_id = 1;
            writer.add(call);
        }
        call.api = "cuStreamSynchronize";
        call.category = CallCategory::Synchronise;
        call.capturing = false;
        writer.add(call);
        MemoryOp copy;
        copy.kind = MemoryOpKind::HostToDevice;
        copy.start_ns = 400;
        copy.end_ns = 500;
        copy.bytes = 64;
        writer.add(copy);
        Allocation allocation;
        allocation.address = 0xFFFF'0000'0000'0010;
        allocation.bytes = 64;
        writer.add(allocation);
        writer.add(Overhead{"CUPTI buffer flush", 30, 40, 7});
        Process process;
        process.process_id = 7;
        writer.add(process);
        writer.add(Device{0, "NVIDIA H200", "GPU-1", 9, 0, 132, 0, 0, 0});
        writer.set_meta("source", "test");
        ASSERT_TRUE(writer.finish());
        ASSERT_EQ(sqlite3_open_v2(path_.c_str(), &database_, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    }
    void TearDown() override { sqlite3_close(database_); }

    Rows query(const std::string& sql) {
        Rows rows;
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
            << sqlite3_errmsg(database_);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            auto& row = rows.emplace_back();
            for (int column = 0; column < sqlite3_column_count(statement); ++column) {
                const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
                row.emplace_back(text == nullptr ? "NULL" : text);
            }
        }
        sqlite3_finalize(statement);
        return rows;
    }

    TemporaryFolder folder_;
    std::filesystem::path path_ = folder_ / "trace.db";
    sqlite3* database_ = nullptr;
};

TEST_F(Views, kernels_have_their_names_shape_and_one_launch_each) {
    EXPECT_EQ(query("SELECT kernel_id, name, mangled_name, duration_ns, grid_x, block_x, launch_id "
                    "FROM kernels ORDER BY kernel_id LIMIT 2"),
              (Rows{{"1", "scale(float*)", "_Z5scalePf", "150", "132", "256", "2"},
                    {"2", "scale(float*)", "_Z5scalePf", "100", "132", "256", "NULL"}}));
    EXPECT_EQ(query("SELECT count(*) FROM kernels"), (Rows{{"4"}}));
}

TEST_F(Views, launches_are_the_launch_calls_and_no_others) {
    EXPECT_EQ(query("SELECT launch_id, api, duration_ns, capturing FROM launches"),
              (Rows{{"1", "cuLaunchKernel", "5", "1"},
                    {"2", "cuLaunchKernel", "5", "0"},
                    {"3", "cuLaunchKernel", "5", "0"}}));
}

TEST_F(Views, host_calls_have_a_category_in_words) {
    EXPECT_EQ(query("SELECT category, count(*) FROM host_calls GROUP BY category ORDER BY category"),
              (Rows{{"launch", "3"}, {"synchronise", "1"}}));
}

TEST_F(Views, gaps_are_what_the_union_of_kernels_and_copies_leaves) {
    EXPECT_EQ(query("SELECT device_id, start_ns, end_ns, duration_ns FROM gaps"),
              (Rows{{"0", "300", "400", "100"}, {"0", "500", "600", "100"}}));
}

TEST_F(Views, arguments_are_cut_into_parameters) {
    EXPECT_EQ(query("SELECT parameter_index, byte_offset, size_bytes, value FROM kernel_arguments"),
              (Rows{{"0", "0", "2", "ab"}, {"1", "2", "1", "c"}}));
}

TEST_F(Views, copies_have_a_kind_in_words) {
    EXPECT_EQ(query("SELECT kind, bytes, duration_ns FROM memory_ops"),
              (Rows{{"host-to-device", "64", "100"}}));
}

TEST_F(Views, addresses_are_also_shown_in_hexadecimal) {
    EXPECT_EQ(query("SELECT address_hex, bytes, end_ns FROM allocations"),
              (Rows{{"0xffff000000000010", "64", "NULL"}}));
}

TEST_F(Views, the_remaining_views_answer) {
    EXPECT_EQ(query("SELECT kind, duration_ns FROM overheads"), (Rows{{"CUPTI buffer flush", "10"}}));
    EXPECT_EQ(query("SELECT process_id, end_ns FROM processes"), (Rows{{"7", "NULL"}}));
    EXPECT_EQ(query("SELECT name, compute_major FROM devices"), (Rows{{"NVIDIA H200", "9"}}));
    EXPECT_EQ(query("SELECT key, value FROM meta"), (Rows{{"source", "test"}}));
}

TEST_F(Views, the_span_of_the_kernels_ignores_those_without_a_time) {
    const auto span = *Trace::open(path_)->kernel_span();
    ASSERT_TRUE(span);
    EXPECT_EQ(span->start_ns, 100);
    EXPECT_EQ(span->end_ns, 650);
}

TEST_F(Views, the_file_passes_the_integrity_check_of_SQLite) {
    EXPECT_EQ(query("PRAGMA integrity_check"), (Rows{{"ok"}}));
}

} // namespace
} // namespace deepjit::trace
