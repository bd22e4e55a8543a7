#include "src/gpu/cupti.hpp"
#include "src/gpu/driver.hpp"
#include "src/gpu/library_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace deepjit::gpu {
namespace {

using ::testing::HasSubstr;

const LibrarySearch kMathSearch = {.title = "the maths library",
                                   .environment_variable = "DEEPJIT_TEST_LIBRARY",
                                   .file_names = {"libno_such_library.so.9", "libm.so.6"},
                                   .in_toolkit = true,
                                   .hint = "install it"};

class LibrarySearchTest : public ::testing::Test {
  protected:
    void TearDown() override { unsetenv("DEEPJIT_TEST_LIBRARY"); }
};

TEST_F(LibrarySearchTest, TakesTheFirstNameThatOpensAndTellsItsPath) {
    const auto library = open_library(kMathSearch);
    ASSERT_TRUE(library);
    EXPECT_THAT(library->path, HasSubstr("/libm.so.6"));
    EXPECT_NE(find_symbol(library->handle, "cos"), nullptr);
    EXPECT_EQ(find_symbol(library->handle, "no_such_function"), nullptr);
}

TEST_F(LibrarySearchTest, VariableIsBindingEvenWhenItIsWrong) {
    setenv("DEEPJIT_TEST_LIBRARY", "/no/such/file.so", 1);
    const auto library = open_library(kMathSearch);
    ASSERT_FALSE(library);
    EXPECT_EQ(library.error().kind, ErrorKind::Environment);
    EXPECT_THAT(library.error().message, HasSubstr("DEEPJIT_TEST_LIBRARY"));
    EXPECT_THAT(library.error().evidence, HasSubstr("/no/such/file.so"));
}

TEST_F(LibrarySearchTest, TellsWhatTheLoaderSaidAndTheRemedy) {
    LibrarySearch search = kMathSearch;
    search.file_names = {"libno_such_library.so.9"};
    const auto library = open_library(search);
    ASSERT_FALSE(library);
    EXPECT_THAT(library.error().evidence, HasSubstr("libno_such_library.so.9"));
    EXPECT_EQ(library.error().hint, "install it");
}

TEST(DriverError, NamesTheErrorTheCallAndTheRemedy) {
    const Diagnostic error = driver_error(100, "cuInit");
    EXPECT_EQ(error.kind, ErrorKind::Environment);
    EXPECT_EQ(error.message, "the driver found no CUDA device");
    EXPECT_EQ(error.evidence, "cuInit answered CUDA_ERROR_NO_DEVICE (100)");
    EXPECT_THAT(error.hint, HasSubstr("CUDA_VISIBLE_DEVICES"));
    EXPECT_EQ(driver_error(700, "cuStreamSynchronize").kind, ErrorKind::Failed);
}

TEST(DriverError, KeepsTheNumberOfAnErrorItDoesNotKnow) {
    EXPECT_THAT(driver_error(54321, "cuInit").message, HasSubstr("54321"));
}

TEST(CuptiVersion, IsToldAsAToolkit) {
    EXPECT_EQ(toolkit_of_cupti(130001), "13.0 Update 1");
    EXPECT_EQ(toolkit_of_cupti(130000), "13.0");
    EXPECT_EQ(toolkit_of_cupti(130200), "13.2");
    EXPECT_EQ(toolkit_of_cupti(22), "12.4");
    EXPECT_EQ(toolkit_of_cupti(3), "API version 3");
}

TEST(CuptiVersion, ReleasesThatLoseRecordsAreKnown) {
    EXPECT_NE(known_cupti_problem(22), "");
    EXPECT_NE(known_cupti_problem(130000), "");
    EXPECT_EQ(known_cupti_problem(130001), "");
}

} // namespace
} // namespace deepjit::gpu
