#pragma once

#include "src/base/result.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

namespace deepjit::ingest {

/// A regular file's contents, read as they are needed. Symlinks are refused: run folders hold none.
class MappedFile {
  public:
    static Result<MappedFile> open(const std::filesystem::path& path);
    MappedFile(MappedFile&& other) noexcept : contents_(std::exchange(other.contents_, {})) {}
    MappedFile& operator=(MappedFile&& other) noexcept {
        std::swap(contents_, other.contents_);
        return *this;
    }
    ~MappedFile();

    /// Valid as long as this object.
    std::string_view contents() const { return contents_; }

  private:
    explicit MappedFile(std::string_view contents) : contents_(contents) {}
    std::string_view contents_;
};

} // namespace deepjit::ingest
