#include "cli/stub_driver.hpp"
#include "src/base/files.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace deepjit::cli {
namespace {

TEST(StubDriver, is_told_when_the_loader_finds_it_before_a_real_one) {
    namespace fs = std::filesystem;
    const fs::path folder = *make_temporary_directory("deepjit-test-stub");
    fs::create_directories(folder / "stubs");
    fs::create_directories(folder / "real");
    fs::create_directories(folder / "other/stubs");
    std::ofstream(folder / "stubs/libcuda.so.1") << "x";
    std::ofstream(folder / "real/libcuda.so.1") << "x";
    const std::string stubs = (folder / "stubs").string();
    const std::string real = (folder / "real").string();
    EXPECT_EQ(stub_driver_in(stubs), folder / "stubs/libcuda.so.1");
    EXPECT_EQ(stub_driver_in("/absent:" + stubs + "/:" + real), folder / "stubs/libcuda.so.1");
    EXPECT_EQ(stub_driver_in(real + ":" + stubs), std::nullopt);
    EXPECT_EQ(stub_driver_in((folder / "other/stubs").string() + ":" + real), std::nullopt);
    EXPECT_EQ(stub_driver_in(""), std::nullopt);
    fs::remove_all(folder);
}

} // namespace
} // namespace deepjit::cli
