#include "src/base/files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>

namespace deepjit {
namespace {
namespace fs = std::filesystem;

class Files : public ::testing::Test {
  protected:
    void SetUp() override {
        auto made = make_temporary_directory("deepjit-files-test");
        ASSERT_TRUE(made);
        folder_ = *made;
    }
    void TearDown() override { fs::remove_all(folder_); }

    static mode_t mode_of(const fs::path& path) {
        struct stat status {};
        EXPECT_EQ(::lstat(path.c_str(), &status), 0);
        return status.st_mode & 07777;
    }

    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    fs::path folder_;
};

TEST_F(Files, any_bytes_are_written_and_read_back) {
    const std::string bytes("\0\xff\n\r two", 8);
    ASSERT_TRUE(write_file_atomically(folder_ / "a", bytes));
    EXPECT_EQ(*read_file(folder_ / "a"), bytes);
    ASSERT_TRUE(write_file_atomically(folder_ / "a", ""));
    EXPECT_EQ(*read_file(folder_ / "a"), "");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, a_write_that_cannot_finish_leaves_the_old_file_and_no_other) {
    fs::create_directory(folder_ / "occupied");
    ASSERT_TRUE(write_file_atomically(folder_ / "occupied/inside", "old"));
    const auto written = write_file_atomically(folder_ / "occupied", "new");
    ASSERT_FALSE(written);
    EXPECT_EQ(*read_file(folder_ / "occupied/inside"), "old");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, a_folder_that_is_not_there_is_named_with_the_reason) {
    const auto written = write_file_atomically("/proc/no-such-folder/file", "x");
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().message.find("/proc/no-such-folder/file"), std::string::npos);
    EXPECT_FALSE(written.error().evidence.empty());
}

TEST_F(Files, a_missing_file_and_a_folder_are_named_with_the_reason) {
    const auto missing = read_file(folder_ / "none");
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().message.find("none"), std::string::npos);
    EXPECT_EQ(missing.error().evidence, "No such file or directory");
    EXPECT_EQ(missing.error().hint, "check the path");
    EXPECT_EQ(read_file(folder_).error().evidence, "Is a directory");
}

TEST_F(Files, a_private_directory_is_the_owners_alone) {
    ASSERT_TRUE(make_private_directory(folder_ / "one/two"));
    EXPECT_EQ(mode_of(folder_ / "one/two"), 0700u);
    EXPECT_TRUE(make_private_directory(folder_ / "one/two"));
    EXPECT_EQ(mode_of(folder_), 0700u);
}

TEST_F(Files, a_private_directory_follows_no_symlink) {
    fs::create_directory(folder_ / "real");
    fs::create_directory_symlink(folder_ / "real", folder_ / "link");
    EXPECT_FALSE(make_private_directory(folder_ / "link"));
    EXPECT_TRUE(write_file_atomically(folder_ / "file", ""));
    EXPECT_FALSE(make_private_directory(folder_ / "file"));
}

TEST_F(Files, the_cache_folder_follows_the_variables_in_order) {
    const auto with = [](const char* variable, const char* value) { ::setenv(variable, value, 1); };
    with("HOME", "/home/someone");
    ::unsetenv("DEEPJIT_CACHE_DIR");
    ::unsetenv("XDG_CACHE_HOME");
    EXPECT_EQ(user_cache_directory(), "/home/someone/.cache/deepjit");
    with("XDG_CACHE_HOME", "/caches");
    EXPECT_EQ(user_cache_directory(), "/caches/deepjit");
    with("DEEPJIT_CACHE_DIR", "/mine");
    EXPECT_EQ(user_cache_directory(), "/mine");
}

TEST_F(Files, the_running_program_is_found) {
    EXPECT_EQ(executable_path().filename(), "base_test");
}

} // namespace
} // namespace deepjit
