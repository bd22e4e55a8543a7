#include "src/base/files.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace deepjit {
namespace {

namespace fs = std::filesystem;

TEST(WriteFile, follows_a_link_and_leaves_a_device_what_it_is) {
    const auto folder = make_temporary_directory("deepjit-files");
    ASSERT_TRUE(folder);
    fs::create_symlink("target", *folder / "link");
    ASSERT_TRUE(write_file_atomically(*folder / "target", "old"));
    ASSERT_TRUE(write_file_atomically(*folder / "link", "new"));
    EXPECT_TRUE(fs::is_symlink(*folder / "link"));
    EXPECT_EQ(*read_file(*folder / "target"), "new");

    fs::create_symlink("/dev/null", *folder / "device");
    ASSERT_TRUE(write_file_atomically(*folder / "device", "gone"));
    EXPECT_TRUE(fs::is_symlink(*folder / "device"));
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    fs::remove_all(*folder);
}

TEST(WriteFile, follows_a_link_to_a_file_that_is_not_there_yet) {
    const auto folder = make_temporary_directory("deepjit-files");
    ASSERT_TRUE(folder);
    fs::create_symlink("target", *folder / "link");
    fs::create_symlink(*folder / "link", *folder / "first");
    ASSERT_TRUE(write_file_atomically(*folder / "first", "new"));
    EXPECT_TRUE(fs::is_symlink(*folder / "first"));
    EXPECT_TRUE(fs::is_symlink(*folder / "link"));
    EXPECT_EQ(*read_file(*folder / "target"), "new");

    fs::create_symlink("circle", *folder / "circle");
    const auto written = write_file_atomically(*folder / "circle", "x");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().evidence, "Too many levels of symbolic links");
    fs::remove_all(*folder);
}

} // namespace
} // namespace deepjit
