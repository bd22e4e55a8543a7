#include "src/base/files.hpp"
#include "src/trace/trace.hpp"
#include "tests/unit/trace/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace deepjit::trace {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

void write_trace(const fs::path& path, std::uint32_t kernels) {
    TraceWriter writer = *TraceWriter::create(path);
    for (std::uint32_t i = 0; i < kernels; ++i) {
        KernelConfig config;
        config.name = "kernel_" + std::to_string(i);
        Kernel kernel;
        kernel.config_id = writer.add_kernel_config(config);
        kernel.start_ns = 1 + i;
        writer.add(kernel);
    }
    ASSERT_TRUE(writer.finish());
}

/// Runs SQL on a database as another program would.
void run_sql(const fs::path& path, const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << (message != nullptr ? message : "");
    sqlite3_free(message);
    sqlite3_close(database);
}

Diagnostic error_of_opening(const fs::path& path) {
    const auto trace = Trace::open(path);
    EXPECT_FALSE(trace);
    return trace ? Diagnostic{} : trace.error();
}

class TraceFailure : public testing::Test {
  protected:
    TemporaryFolder folder_;
    fs::path path_ = folder_ / "trace.db";
};

TEST_F(TraceFailure, a_missing_file_is_named_and_recording_suggested) {
    const Diagnostic error = error_of_opening(path_);
    EXPECT_EQ(error.kind, ErrorKind::Failed);
    EXPECT_EQ(error.message, "cannot read the trace '" + path_.string() + "'");
    EXPECT_EQ(error.evidence, "No such file or directory");
    EXPECT_THAT(error.hint, HasSubstr("deepjit profile"));
}

TEST_F(TraceFailure, a_folder_is_named_as_one_and_import_suggested) {
    const Diagnostic error = error_of_opening(folder_.path());
    EXPECT_THAT(error.message, HasSubstr("is a folder, not a trace"));
    EXPECT_THAT(error.hint, HasSubstr("deepjit import"));
}

TEST_F(TraceFailure, empty_text_and_device_files_are_not_traces) {
    ASSERT_TRUE(write_file_atomically(path_, ""));
    EXPECT_EQ(error_of_opening(path_).evidence, "it is empty");
    ASSERT_TRUE(write_file_atomically(path_, "{\"traceEvents\": []}"));
    EXPECT_EQ(error_of_opening(path_).evidence, "it does not begin as an SQLite database does");
    EXPECT_EQ(error_of_opening("/dev/zero").evidence, "it is not a regular file");
}

TEST_F(TraceFailure, a_database_of_another_program_is_refused) {
    run_sql(path_, "CREATE TABLE bookmarks (url TEXT); PRAGMA user_version = 1;");
    EXPECT_EQ(error_of_opening(path_).evidence, "it is an SQLite database of another program");
}

TEST_F(TraceFailure, a_newer_version_is_refused_with_both_numbers) {
    write_trace(path_, 1);
    run_sql(path_, "PRAGMA user_version = " + std::to_string(kSchemaVersion + 1));
    const Diagnostic error = error_of_opening(path_);
    EXPECT_THAT(error.message, HasSubstr("written by a newer deepjit"));
    EXPECT_EQ(error.evidence, "its schema version is " + std::to_string(kSchemaVersion + 1) +
                                  "; this deepjit reads " + std::to_string(kSchemaVersion));
    EXPECT_THAT(error.hint, HasSubstr("update deepjit"));
}

TEST_F(TraceFailure, an_older_version_is_refused_with_both_numbers) {
    write_trace(path_, 1);
    run_sql(path_, "PRAGMA user_version = 1");
    const Diagnostic error = error_of_opening(path_);
    EXPECT_THAT(error.message, HasSubstr("written by an older deepjit"));
    EXPECT_THAT(error.evidence, HasSubstr("schema version is 1;"));
    EXPECT_THAT(error.hint, HasSubstr("record the trace again"));
}

TEST_F(TraceFailure, a_file_cut_short_is_damaged) {
    write_trace(path_, 1000);
    fs::resize_file(path_, fs::file_size(path_) / 2);
    EXPECT_THAT(error_of_opening(path_).message, HasSubstr("is damaged"));
}

TEST_F(TraceFailure, overwritten_pages_are_an_error_and_never_silently_fewer_rows) {
    write_trace(path_, 5000);
    std::string bytes = *read_file(path_);
    for (std::size_t i = 4096; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(i * 2654435761U >> 13);
    ASSERT_TRUE(write_file_atomically(path_, bytes));
    const auto trace = Trace::open(path_);
    const Diagnostic error = trace ? trace->kernels().error() : trace.error();
    EXPECT_THAT(error.message, HasSubstr("is damaged"));
    EXPECT_THAT(error.hint, HasSubstr("record it again"));
}

TEST_F(TraceFailure, a_missing_table_is_an_error_that_names_the_file) {
    write_trace(path_, 1);
    run_sql(path_, "DROP TABLE overhead_entry");
    const Trace trace = *Trace::open(path_);
    EXPECT_THAT(trace.overheads().error().message, HasSubstr(path_.string()));
}

TEST_F(TraceFailure, a_view_in_place_of_a_table_is_not_run) {
    write_trace(path_, 1);
    run_sql(path_, "DROP TABLE overhead_entry; CREATE VIEW overhead_entry AS SELECT 1 AS overhead_id, "
                   "'x' AS kind, 0 AS start_ns, 0 AS end_ns, 0 AS process_id;");
    const Trace trace = *Trace::open(path_);
    EXPECT_FALSE(trace.overheads());
}

TEST_F(TraceFailure, a_parameter_outside_its_argument_block_is_refused) {
    TraceWriter writer = *TraceWriter::create(path_);
    Arguments arguments;
    arguments.parameters = {{0, 8}, {4, 8}};
    arguments.bytes = std::string(8, 'x');
    const std::int64_t id = writer.add_arguments(arguments);
    ASSERT_TRUE(writer.finish());
    const Trace trace = *Trace::open(path_);
    EXPECT_THAT(trace.arguments(id).error().evidence, HasSubstr("outside argument block"));
}

TEST_F(TraceFailure, unknown_numbers_of_kinds_are_read_as_other) {
    TraceWriter writer = *TraceWriter::create(path_);
    HostCall call;
    call.category = static_cast<CallCategory>(77);
    writer.add(call);
    MemoryOp op;
    op.kind = static_cast<MemoryOpKind>(77);
    writer.add(op);
    ASSERT_TRUE(writer.finish());
    const Trace trace = *Trace::open(path_);
    EXPECT_EQ(trace.host_calls()->at(0).category, CallCategory::Other);
    EXPECT_EQ(trace.memory_ops()->at(0).kind, MemoryOpKind::Other);
}

TEST_F(TraceFailure, a_writer_that_is_dropped_leaves_nothing_and_the_old_file_whole) {
    write_trace(path_, 3);
    {
        TraceWriter writer = *TraceWriter::create(path_);
        writer.set_meta("k", "v");
    }
    EXPECT_EQ(files_in(folder_.path()), 1u);
    EXPECT_EQ(Trace::open(path_)->kernels()->size(), 3u);
}

TEST_F(TraceFailure, a_duplicate_id_is_kept_until_finish_and_leaves_the_old_file_whole) {
    write_trace(path_, 3);
    {
        TraceWriter writer = *TraceWriter::create(path_);
        Kernel kernel;
        kernel.kernel_id = 1;
        kernel.config_id = writer.add_kernel_config(KernelConfig{});
        writer.add(kernel);
        writer.add(kernel);
        const auto finished = writer.finish();
        ASSERT_FALSE(finished);
        EXPECT_THAT(finished.error().evidence, HasSubstr("UNIQUE"));
    }
    EXPECT_EQ(files_in(folder_.path()), 1u);
    EXPECT_EQ(Trace::open(path_)->kernels()->size(), 3u);
}

TEST_F(TraceFailure, a_folder_that_is_missing_is_named_when_writing) {
    const auto writer = TraceWriter::create(folder_ / "absent/trace.db");
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().evidence, "No such file or directory");
    EXPECT_THAT(writer.error().hint, HasSubstr("-o"));
}

TEST_F(TraceFailure, a_folder_that_is_read_only_is_named_when_writing) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere; tests/golden covers a read-only mount";
    fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
    const auto writer = TraceWriter::create(path_);
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().evidence, "Permission denied");
}

TEST_F(TraceFailure, a_folder_at_the_path_itself_is_refused_before_writing) {
    const auto writer = TraceWriter::create(folder_.path());
    ASSERT_FALSE(writer);
    EXPECT_THAT(writer.error().evidence, HasSubstr("it is a folder"));
}

TEST_F(TraceFailure, a_link_stays_and_the_file_that_it_points_to_is_written) {
    fs::create_directory(folder_ / "elsewhere");
    fs::create_symlink("elsewhere/real.db", path_); // does not exist yet
    for (const std::uint32_t kernels : {2U, 3U}) {
        write_trace(path_, kernels);
        EXPECT_TRUE(fs::is_symlink(path_));
        EXPECT_EQ(Trace::open(folder_ / "elsewhere/real.db")->kernels()->size(), kernels);
    }
    EXPECT_EQ(files_in(folder_ / "elsewhere"), 1U);
}

TEST_F(TraceFailure, links_in_a_circle_are_refused) {
    fs::create_symlink("other", path_);
    fs::create_symlink("trace.db", folder_ / "other");
    const auto writer = TraceWriter::create(path_);
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().evidence, "Too many levels of symbolic links");
}

TEST_F(TraceFailure, a_pipe_a_device_and_stdout_are_refused_and_stay_what_they_are) {
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    fs::create_symlink("/dev/null", folder_ / "device");
    for (const auto& [path, kind] : std::vector<std::pair<fs::path, std::string>>{
             {path_, "a pipe"}, {folder_ / "device", "a device"}, {"-", "stdout"}}) {
        const auto writer = TraceWriter::create(path);
        ASSERT_FALSE(writer) << path;
        EXPECT_EQ(writer.error().kind, ErrorKind::Usage);
        EXPECT_THAT(writer.error().evidence, HasSubstr("it is " + kind));
    }
    EXPECT_TRUE(fs::is_fifo(path_));
    EXPECT_TRUE(fs::is_symlink(folder_ / "device"));
    EXPECT_EQ(files_in(folder_.path()), 2U);
}

/// While it lives, no file of this process may grow past `bytes`: write() then fails with EFBIG.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &previous_);
        const rlimit limited{bytes, previous_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limited);
        previous_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &previous_);
        std::signal(SIGXFSZ, previous_handler_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

  private:
    rlimit previous_{};
    void (*previous_handler_)(int) = nullptr;
};

TEST_F(TraceFailure, a_failing_write_is_said_with_a_remedy_and_leaves_the_old_file_whole) {
    write_trace(path_, 3);
    {
        TraceWriter writer = *TraceWriter::create(path_);
        const FileSizeLimit limit(64 << 10);
        Arguments arguments;
        for (int i = 0; i < 1000; ++i) {
            arguments.bytes = std::to_string(i) + std::string(1000, 'x');
            writer.add_arguments(arguments);
        }
        const auto finished = writer.finish();
        ASSERT_FALSE(finished);
        EXPECT_EQ(finished.error().kind, ErrorKind::Failed);
        EXPECT_EQ(finished.error().message, "writing the trace '" + path_.string() + "' failed");
        EXPECT_THAT(finished.error().hint, HasSubstr("ulimit -f"));
    }
    EXPECT_EQ(files_in(folder_.path()), 1u);
    EXPECT_EQ(Trace::open(path_)->kernels()->size(), 3u);
}

TEST_F(TraceFailure, a_trace_in_a_read_only_file_can_be_read) {
    write_trace(path_, 3);
    fs::permissions(path_, fs::perms::owner_read);
    EXPECT_EQ(Trace::open(path_)->kernels()->size(), 3u);
}

TEST_F(TraceFailure, a_path_that_SQLite_could_take_for_a_URI_or_memory_is_a_plain_path) {
    const fs::path previous = fs::current_path();
    fs::current_path(folder_.path());
    EXPECT_FALSE(Trace::open(":memory:"));
    const fs::path odd = "file:odd?mode=memory#.db";
    write_trace(odd, 2);
    EXPECT_EQ(Trace::open(odd)->kernels()->size(), 2u);
    fs::current_path(previous);
}

} // namespace
} // namespace deepjit::trace
