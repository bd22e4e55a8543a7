#include "fusers/jit/kernel_cache.hpp"

#include "src/base/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace deepjit::jit {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CompileRequest small_request(const std::string& body = "x[threadIdx.x] += 1.0f;") {
    return {.name = "small",
            .source = "extern \"C\" __global__ void small(float* x) { " + body + " }\n",
            .architecture = *parse_architecture("sm_80")};
}

class KernelCacheTest : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto made = make_temporary_directory("deepjit-jit-test");
        ASSERT_TRUE(made);
        root_ = *made;
        folder_ = root_ / "kernels";
    }
    void TearDown() override {
        std::error_code error;
        fs::remove_all(root_, error);
    }
    fs::path only_file(const std::string& extension) const {
        fs::path found;
        for (const auto& entry : fs::directory_iterator(folder_))
            if (entry.path().extension() == extension) {
                EXPECT_TRUE(found.empty()) << "two files " << extension;
                found = entry.path();
            }
        EXPECT_FALSE(found.empty()) << "no file " << extension;
        return found;
    }
    /// Compiles with a fresh cache object, as a new process would.
    Result<CacheAnswer> compile_afresh(const CompileRequest& request) const {
        KernelCache cache(folder_);
        return cache.compile(request);
    }

    fs::path root_;
    fs::path folder_;
};

TEST_F(KernelCacheTest, AnswersFromMemoryAndThenFromDisk) {
    KernelCache cache(folder_);
    const auto first = cache.compile(small_request());
    ASSERT_TRUE(first) << first.error().evidence;
    EXPECT_EQ(first->origin, Origin::Compiled);
    const auto second = cache.compile(small_request());
    ASSERT_TRUE(second);
    EXPECT_EQ(second->origin, Origin::Memory);
    EXPECT_EQ(second->kernel, first->kernel);
    const auto third = compile_afresh(small_request());
    ASSERT_TRUE(third);
    EXPECT_EQ(third->origin, Origin::Disk);
    EXPECT_EQ(third->kernel->image, first->kernel->image);
    EXPECT_EQ(third->kernel->architecture, first->kernel->architecture);
    ASSERT_EQ(third->kernel->entries.size(), 1U);
    EXPECT_EQ(third->kernel->entries[0].name, "small");
    EXPECT_EQ(third->kernel->entries[0].registers_per_thread, first->kernel->entries[0].registers_per_thread);
    EXPECT_THAT(third->warnings, IsEmpty());
}

TEST_F(KernelCacheTest, KeepsTheBareCubinOnDisk) {
    const auto answer = compile_afresh(small_request());
    ASSERT_TRUE(answer);
    const auto cubin = read_file(only_file(".cubin"));
    ASSERT_TRUE(cubin);
    EXPECT_EQ(*cubin, answer->kernel->image);
}

TEST_F(KernelCacheTest, LeavesNoLockAndNoTemporaryFileBehind) {
    ASSERT_TRUE(compile_afresh(small_request()));
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_))
        ++files;
    EXPECT_EQ(files, 2U);
}

TEST_F(KernelCacheTest, FolderIsForTheOwnerAlone) {
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::all);
    ASSERT_TRUE(compile_afresh(small_request()));
    struct stat status {};
    ASSERT_EQ(::stat(folder_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(KernelCacheTest, KeyChangesWithEverythingThatChangesTheResult) {
    const CompileRequest base = small_request();
    const std::string key = *KernelCache::key_of(base);
    CompileRequest other = base;
    EXPECT_EQ(*KernelCache::key_of(other), key);
    other.source += " ";
    EXPECT_NE(*KernelCache::key_of(other), key);
    other = base;
    other.architecture = *parse_architecture("sm_86");
    EXPECT_NE(*KernelCache::key_of(other), key);
    other = base;
    other.specialization = "n=4";
    EXPECT_NE(*KernelCache::key_of(other), key);
    other = base;
    other.options = {"--fmad=false", "--maxrregcount=32"};
    const std::string with_options = *KernelCache::key_of(other);
    EXPECT_NE(with_options, key);
    other.options = {"--maxrregcount=32", "--fmad=false"};
    EXPECT_NE(*KernelCache::key_of(other), with_options);
}

TEST_F(KernelCacheTest, RebuildsATruncatedEntryWithOneWarning) {
    ASSERT_TRUE(compile_afresh(small_request()));
    for (const char* extension : {".entry", ".cubin"}) {
        const fs::path file = only_file(extension);
        fs::resize_file(file, fs::file_size(file) / 2);
        const auto rebuilt = compile_afresh(small_request());
        ASSERT_TRUE(rebuilt);
        EXPECT_EQ(rebuilt->origin, Origin::Compiled);
        ASSERT_EQ(rebuilt->warnings.size(), 1U);
        EXPECT_THAT(rebuilt->warnings[0], HasSubstr(file.string()));
        const auto after = compile_afresh(small_request());
        ASSERT_TRUE(after);
        EXPECT_EQ(after->origin, Origin::Disk);
        EXPECT_THAT(after->warnings, IsEmpty());
    }
}

TEST_F(KernelCacheTest, RebuildsAnEntryWithOneFlippedBit) {
    const auto original = compile_afresh(small_request());
    ASSERT_TRUE(original);
    const fs::path file = only_file(".cubin");
    std::string bytes = *read_file(file);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    ASSERT_TRUE(write_file_atomically(file, bytes));
    const auto rebuilt = compile_afresh(small_request());
    ASSERT_TRUE(rebuilt);
    EXPECT_EQ(rebuilt->origin, Origin::Compiled);
    EXPECT_EQ(rebuilt->kernel->image, original->kernel->image);
    EXPECT_EQ(rebuilt->warnings.size(), 1U);
}

TEST_F(KernelCacheTest, RebuildsAnEmptyEntryAndAForeignOne) {
    ASSERT_TRUE(compile_afresh(small_request()));
    for (const char* contents :
         {"", "not ours at all, but longer than the header of an entry would ever be ......\n"}) {
        ASSERT_TRUE(write_file_atomically(only_file(".entry"), contents));
        const auto rebuilt = compile_afresh(small_request());
        ASSERT_TRUE(rebuilt);
        EXPECT_EQ(rebuilt->origin, Origin::Compiled);
        EXPECT_EQ(rebuilt->warnings.size(), 1U);
    }
}

TEST_F(KernelCacheTest, CompilesWithoutAUsableFolderAndSaysSoOnce) {
    ASSERT_TRUE(write_file_atomically(folder_, "a file where the folder should be"));
    KernelCache cache(folder_);
    const auto first = cache.compile(small_request());
    ASSERT_TRUE(first);
    EXPECT_EQ(first->origin, Origin::Compiled);
    ASSERT_EQ(first->warnings.size(), 1U);
    EXPECT_THAT(first->warnings[0], HasSubstr("in memory only"));
    const auto second = cache.compile(small_request("x[0] = 0.0f;"));
    ASSERT_TRUE(second);
    EXPECT_THAT(second->warnings, IsEmpty());
    EXPECT_EQ(cache.compile(small_request())->origin, Origin::Memory);
}

TEST_F(KernelCacheTest, DoesNotFollowASymlink) {
    const fs::path elsewhere = root_ / "elsewhere";
    fs::create_directory(elsewhere);
    fs::create_directory_symlink(elsewhere, folder_);
    const auto answer = compile_afresh(small_request());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->warnings.size(), 1U);
    EXPECT_TRUE(fs::is_empty(elsewhere));
}

/// Runs `work` in a child with the rights of nobody, because permission bits do not bind root. Its exit code.
template <class Work>
int run_unprivileged(const fs::path& owned, Work work) {
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0) {
            constexpr unsigned kNobody = 65534;
            if (chown(owned.c_str(), kNobody, kNobody) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0)
                _exit(90);
        }
        _exit(work());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST_F(KernelCacheTest, ReadsAReadOnlyFolderAndWarnsOnceThatItCannotStore) {
    const int code = run_unprivileged(root_, [&] {
        if (KernelCache filling(folder_); !filling.compile(small_request())) return 1;
        fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
        KernelCache cache(folder_);
        const auto stored = cache.compile(small_request());
        if (!stored || stored->origin != Origin::Disk || !stored->warnings.empty()) return 2;
        const auto fresh = cache.compile(small_request("x[0] = 0.0f;"));
        if (!fresh || fresh->origin != Origin::Compiled || fresh->warnings.size() != 1) return 3;
        const auto another = cache.compile(small_request("x[0] = 1.0f;"));
        if (!another || !another->warnings.empty()) return 4;
        return cache.compile(small_request())->origin == Origin::Memory ? 0 : 5;
    });
    EXPECT_EQ(code, 0);
}

TEST_F(KernelCacheTest, OneOfSixteenColdProcessesCompiles) {
    std::vector<pid_t> children;
    for (int i = 0; i < 16; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            KernelCache cache(folder_);
            const auto answer = cache.compile(small_request());
            _exit(!answer || !answer->warnings.empty() ? 9 : answer->origin == Origin::Compiled ? 1 : 0);
        }
        children.push_back(child);
    }
    int compiled = 0;
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFEXITED(status));
        ASSERT_LE(WEXITSTATUS(status), 1);
        compiled += WEXITSTATUS(status);
    }
    EXPECT_EQ(compiled, 1);
}

TEST_F(KernelCacheTest, CompilesSeveralArchitecturesAtOnceInOrder) {
    std::vector<CompileRequest> requests;
    for (const char* name : {"sm_75", "sm_80", "sm_999", "sm_90"}) {
        requests.push_back(small_request());
        requests.back().architecture = *parse_architecture(name);
    }
    KernelCache cache(folder_);
    const auto answers = cache.compile_all(requests, 4);
    ASSERT_EQ(answers.size(), 4U);
    for (const std::size_t i : {0U, 1U, 3U}) {
        ASSERT_TRUE(answers[i]) << i;
        EXPECT_EQ(answers[i]->kernel->architecture, requests[i].architecture);
    }
    ASSERT_FALSE(answers[2]);
    EXPECT_THAT(answers[2].error().message, HasSubstr("sm_999"));
}

TEST_F(KernelCacheTest, ThreadsThatAskForOneKernelGetTheSame) {
    KernelCache cache(folder_);
    const std::vector<CompileRequest> requests(8, small_request());
    const auto answers = cache.compile_all(requests, 8);
    int compiled = 0;
    for (const auto& answer : answers) {
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->kernel, answers[0]->kernel);
        compiled += answer->origin == Origin::Compiled ? 1 : 0;
    }
    EXPECT_EQ(compiled, 1);
}

TEST_F(KernelCacheTest, FailuresAreNotStored) {
    const CompileRequest broken = small_request("undeclared = 1;");
    EXPECT_FALSE(compile_afresh(broken));
    EXPECT_TRUE(fs::is_empty(folder_));
}

} // namespace
} // namespace deepjit::jit
