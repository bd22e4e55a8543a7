#pragma once

#include "src/base/files.hpp"

#include <filesystem>
#include <system_error>

namespace deepjit::trace {

/// A folder that goes away with the test.
class TemporaryFolder {
  public:
    TemporaryFolder() : path_(*make_temporary_directory("deepjit-trace-test")) {}
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::filesystem::path operator/(const char* name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

} // namespace deepjit::trace
