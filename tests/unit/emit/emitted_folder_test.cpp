#include "fusers/emit/emitted_folder.hpp"
#include "src/base/files.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

namespace deepjit::emit {
namespace {

namespace fs = std::filesystem;

class EmittedFolderTest : public ::testing::Test {
  protected:
    void SetUp() override { directory_ = *make_temporary_directory("emit"); }
    void TearDown() override {
        fs::permissions(directory_, fs::perms::owner_all);
        fs::remove_all(directory_);
    }

    std::size_t entries_in_directory() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
    }
    void write(const fs::path& path, std::string_view text) {
        ASSERT_TRUE(write_file_atomically(path, text));
    }

    const std::vector<EmittedFile> first_ = {{"k.cu", "one"}, {"torch/k.py", "python"}};
    const std::vector<EmittedFile> second_ = {{"k.cu", "two"}};
    fs::path directory_;
};

TEST_F(EmittedFolderTest, a_new_folder_holds_the_files_and_nothing_else_is_left_behind) {
    const auto written = write_emitted_folder(directory_ / "out", "k", first_);
    ASSERT_TRUE(written);
    EXPECT_EQ(*read_file(directory_ / "out/k/torch/k.py"), "python");
    EXPECT_TRUE(fs::exists(directory_ / "out/k/manifest.json"));
    EXPECT_EQ(std::distance(fs::directory_iterator(directory_ / "out"), fs::directory_iterator()), 1);
}

TEST_F(EmittedFolderTest, an_untouched_folder_is_replaced_and_files_no_longer_emitted_go) {
    ASSERT_TRUE(write_emitted_folder(directory_, "k", first_));
    ASSERT_TRUE(write_emitted_folder(directory_, "k", second_));
    EXPECT_EQ(*read_file(directory_ / "k/k.cu"), "two");
    EXPECT_FALSE(fs::exists(directory_ / "k/torch"));
    EXPECT_EQ(entries_in_directory(), 1u);
}

TEST_F(EmittedFolderTest, files_that_deepjit_did_not_write_are_carried_over) {
    ASSERT_TRUE(write_emitted_folder(directory_, "k", first_));
    fs::create_directories(directory_ / "k/build");
    write(directory_ / "k/build/k.o", "object");
    write(directory_ / "k/torch/notes.txt", "notes");
    const auto written = write_emitted_folder(directory_, "k", first_);
    ASSERT_TRUE(written);
    EXPECT_TRUE(written->replaced.empty());
    EXPECT_EQ(*read_file(directory_ / "k/build/k.o"), "object");
    EXPECT_EQ(*read_file(directory_ / "k/torch/notes.txt"), "notes");
    EXPECT_EQ(entries_in_directory(), 1u);
}

TEST_F(EmittedFolderTest, an_edited_file_is_refused_by_name_and_kept) {
    ASSERT_TRUE(write_emitted_folder(directory_, "k", first_));
    write(directory_ / "k/torch/k.py", "my edit");
    const auto written = write_emitted_folder(directory_, "k", second_);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::Usage);
    EXPECT_NE(written.error().message.find("torch/k.py"), std::string::npos);
    EXPECT_NE(written.error().hint.find("--force"), std::string::npos);
    EXPECT_EQ(*read_file(directory_ / "k/torch/k.py"), "my edit");
    EXPECT_EQ(*read_file(directory_ / "k/k.cu"), "one");
}

TEST_F(EmittedFolderTest, the_chain_file_that_was_read_may_have_been_edited) {
    ASSERT_TRUE(write_emitted_folder(directory_, "k", {{"chain.json", "open"}}));
    write(directory_ / "k/chain.json", "filled in");
    WriteOptions options;
    EXPECT_FALSE(write_emitted_folder(directory_, "k", first_, options));
    options.edited_input = directory_ / "k" / ".." / "k/chain.json";
    EXPECT_TRUE(write_emitted_folder(directory_, "k", first_, options));
}

TEST_F(EmittedFolderTest, a_foreign_folder_is_refused_and_kept_beside_when_forced) {
    fs::create_directory(directory_ / "k");
    write(directory_ / "k/thesis.tex", "years of work");
    EXPECT_FALSE(write_emitted_folder(directory_, "k", first_));
    EXPECT_EQ(*read_file(directory_ / "k/thesis.tex"), "years of work");

    WriteOptions options;
    options.force = true;
    const auto written = write_emitted_folder(directory_, "k", first_, options);
    ASSERT_TRUE(written);
    EXPECT_EQ(*read_file(written->replaced / "thesis.tex"), "years of work");
    EXPECT_EQ(*read_file(directory_ / "k/k.cu"), "one");
}

TEST_F(EmittedFolderTest, a_manifest_of_another_tool_or_no_json_does_not_make_a_folder_ours) {
    fs::create_directory(directory_ / "k");
    for (const char* manifest :
         {"{\"tool\": \"other\", \"files\": {}}", "{", "[]", "{\"tool\": \"deepjit\"}"}) {
        write(directory_ / "k/manifest.json", manifest);
        EXPECT_FALSE(write_emitted_folder(directory_, "k", first_)) << manifest;
    }
}

TEST_F(EmittedFolderTest, a_finished_kernel_is_not_replaced_by_an_unfinished_one) {
    WriteOptions unfinished;
    unfinished.worth = Worth::Unfinished;
    ASSERT_TRUE(write_emitted_folder(directory_, "k", first_));
    const auto refused = write_emitted_folder(directory_, "k", {{"chain.json", "{}"}}, unfinished);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("holds a kernel that is finished"), std::string::npos);
    EXPECT_EQ(*read_file(directory_ / "k/k.cu"), "one");
    unfinished.force = true;
    const auto forced = write_emitted_folder(directory_, "k", {{"chain.json", "{}"}}, unfinished);
    ASSERT_TRUE(forced);
    EXPECT_EQ(*read_file(forced->replaced / "k.cu"), "one");
}

TEST_F(EmittedFolderTest, a_verified_kernel_is_not_replaced_by_one_that_no_gpu_ran) {
    WriteOptions unverified;
    unverified.worth = Worth::Unverified;
    const std::vector<EmittedFile> verified = {{"k.cu", "one"}, {"verify.json", R"({"status": "passed"})"}};
    ASSERT_TRUE(write_emitted_folder(directory_, "k", verified));
    EXPECT_FALSE(write_emitted_folder(directory_, "k", second_, unverified));
    EXPECT_EQ(*read_file(directory_ / "k/k.cu"), "one");
    EXPECT_TRUE(write_emitted_folder(directory_, "k", second_));
    EXPECT_TRUE(write_emitted_folder(directory_, "k", second_, unverified));
}

TEST_F(EmittedFolderTest, a_file_in_the_way_is_refused) {
    write(directory_ / "k", "a file");
    EXPECT_FALSE(write_emitted_folder(directory_, "k", first_));
    EXPECT_EQ(*read_file(directory_ / "k"), "a file");
}

TEST_F(EmittedFolderTest, a_read_only_folder_is_left_as_it_was) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec);
    const auto written = write_emitted_folder(directory_, "k", first_);
    ASSERT_FALSE(written);
    EXPECT_FALSE(written.error().hint.empty());
    EXPECT_EQ(entries_in_directory(), 0u);
}

TEST_F(EmittedFolderTest, after_a_write_that_fails_half_way_nothing_is_left_and_the_old_folder_stands) {
    ASSERT_TRUE(write_emitted_folder(directory_, "k", first_));
    // "k.cu" is a file, so "k.cu/inner" cannot be written.
    const auto written = write_emitted_folder(directory_, "k", {{"k.cu", "new"}, {"k.cu/inner", "x"}});
    ASSERT_FALSE(written);
    EXPECT_EQ(*read_file(directory_ / "k/k.cu"), "one");
    EXPECT_EQ(entries_in_directory(), 1u);
}

TEST_F(EmittedFolderTest, names_that_leave_the_folder_are_refused) {
    for (const char* name : {"", "..", "../k", "a/b", "a b", "9k"})
        EXPECT_FALSE(write_emitted_folder(directory_, name, first_)) << name;
    EXPECT_EQ(entries_in_directory(), 0u);
}

} // namespace
} // namespace deepjit::emit
