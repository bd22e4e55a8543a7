#pragma once

#include "src/base/result.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// DIR/NAME on disk: all of it or nothing, and never over somebody else's work.
namespace deepjit::emit {

struct EmittedFile {
    std::string path; ///< relative, '/' between parts
    std::string contents;
};

/// What a folder is worth to its owner; ascending.
enum class Worth {
    Unfinished, ///< a chain file with open ops
    Unverified, ///< a kernel that no GPU has run
    Verified,
};

struct WriteOptions {
    /// Replace a folder that is not deepjit's own, was edited, or is worth more than the new one; the old one
    /// is kept beside it.
    bool force = false;
    Worth worth = Worth::Verified; ///< of the new folder
    /// A file whose edits the new contents already hold (the chain.json that was read); not counted as
    /// edited.
    std::filesystem::path edited_input;
};

struct WrittenFolder {
    std::filesystem::path path;
    std::filesystem::path replaced; ///< where the previous folder was kept; empty when there was none to keep
};

/// Writes `files` and a manifest.json with their hashes to a temporary folder in `directory`, which is
/// created, and renames it to `directory/name`. An existing folder is replaced when its manifest is deepjit's
/// each listed file has the listed hash, and the new one is worth as much; files in it that are not listed
/// are carried over. Otherwise refuses (Usage) with the reason. After an error the disk is as before.
Result<WrittenFolder> write_emitted_folder(const std::filesystem::path& directory, const std::string& name,
                                           const std::vector<EmittedFile>& files,
                                           const WriteOptions& options = {});

/// The check alone, so that a refusal comes before minutes of work.
Result<void> check_replaceable(const std::filesystem::path& directory, const std::string& name,
                               const WriteOptions& options);

} // namespace deepjit::emit
