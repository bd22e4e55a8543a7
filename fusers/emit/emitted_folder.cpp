#include "fusers/emit/emitted_folder.hpp"

#include "src/base/files.hpp"
#include "src/base/hash.hpp"
#include "src/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace deepjit::emit {

namespace fs = std::filesystem;

namespace {

constexpr const char* kManifestName = "manifest.json";
constexpr const char* kVerdictName = "verify.json";
constexpr const char* kTool = "deepjit";
constexpr int kSchemaVersion = 1;

using HashByPath = std::map<std::string, std::string>;

std::string quoted(const fs::path& path) {
    return "'" + printable(path.string()) + "'";
}

Diagnostic cannot(std::string_view action, const fs::path& path, const std::error_code& code) {
    return failure(fmt::format("cannot {} {}", action, quoted(path)), code.message(),
                   code == std::errc::no_space_on_device ? "free some space, or emit to another disk"
                                                         : "choose a folder that you may write to");
}

Diagnostic refused(const std::string& message, const std::string& evidence) {
    return usage_error(
        message, evidence,
        "choose another --name or --emit folder, or use --force: the present folder is then kept beside the "
        "new one");
}

std::string manifest_text(const std::string& name, const std::vector<EmittedFile>& files) {
    nlohmann::ordered_json manifest = {{"schema_version", kSchemaVersion}, {"tool", kTool}, {"name", name}};
    std::map<std::string, std::string> hashes;
    for (const EmittedFile& file : files)
        hashes[file.path] = hash_hex(file.contents);
    manifest["hash"] = "XXH3-128";
    manifest["files"] = hashes;
    return manifest.dump(2) + "\n";
}

/// The listed files of a manifest of ours, or nothing.
std::optional<HashByPath> read_manifest(const fs::path& folder) {
    const auto text = read_file(folder / kManifestName);
    if (!text) return std::nullopt;
    const auto manifest = nlohmann::json::parse(*text, nullptr, false);
    if (!manifest.is_object() || manifest.value("tool", nlohmann::json()) != kTool) return std::nullopt;
    const auto files = manifest.find("files");
    if (files == manifest.end() || !files->is_object()) return std::nullopt;
    HashByPath hashes;
    for (const auto& [path, hash] : files->items()) {
        if (!hash.is_string()) return std::nullopt;
        hashes[path] = hash.get<std::string>();
    }
    return hashes;
}

/// Of a folder with this manifest.
Worth worth_of(const fs::path& folder, const HashByPath& listed) {
    const bool has_kernel = std::any_of(listed.begin(), listed.end(),
                                        [](const auto& file) { return file.first.ends_with(".cu"); });
    if (!has_kernel) return Worth::Unfinished;
    const auto text = read_file(folder / kVerdictName);
    const auto verdict = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
    const bool passed = verdict.is_object() && verdict.value("status", nlohmann::json()) == "passed";
    return passed ? Worth::Verified : Worth::Unverified;
}

bool is_same_file(const fs::path& left, const fs::path& right) {
    std::error_code ignored;
    return !left.empty() && fs::equivalent(left, right, ignored);
}

Result<void> check_unedited(const fs::path& folder, const WriteOptions& options) {
    const auto manifest = read_manifest(folder);
    if (!manifest)
        return refused(fmt::format("{} exists and was not written by deepjit", quoted(folder)),
                       fmt::format("it holds no {} of deepjit", kManifestName));
    for (const auto& [path, hash] : *manifest) {
        const fs::path file = folder / path;
        std::error_code ignored;
        const fs::file_status status = fs::status(file, ignored);
        if (!fs::exists(status)) continue; // nothing of anybody's is lost
        if (!fs::is_regular_file(status))
            return refused(fmt::format("{} was replaced since deepjit wrote it", quoted(file)),
                           "it is no regular file");
        const auto contents = read_file(file);
        if (!contents) return contents.error();
        if (hash_hex(*contents) == hash || is_same_file(options.edited_input, file)) continue;
        return refused(fmt::format("{} was edited since deepjit wrote it", quoted(file)),
                       "its contents no longer have the hash in manifest.json");
    }
    const Worth present = worth_of(folder, *manifest);
    if (present > options.worth)
        return refused(fmt::format("{} holds a kernel that is {}", quoted(folder),
                                   present == Worth::Verified ? "verified" : "finished"),
                       options.worth == Worth::Unfinished
                           ? "what would replace it still has kernels to fill in"
                           : "what would replace it could not be run on a GPU here");
    return {};
}

Result<void> make_directories(const fs::path& path) {
    std::error_code code;
    fs::create_directories(path, code);
    if (!code && !fs::is_directory(path)) code = std::make_error_code(std::errc::not_a_directory);
    if (code) return cannot("create", path, code);
    return {};
}

/// A folder with those above it; whichever had to be made is removed again if nothing comes to lie in it.
class OutputDirectory {
  public:
    static Result<OutputDirectory> create(const fs::path& path) {
        OutputDirectory directory;
        std::error_code ignored;
        for (fs::path missing = path; !missing.empty() && !fs::exists(missing, ignored);
             missing = missing.parent_path())
            directory.made_.push_back(missing);
        DEEPJIT_CHECK(make_directories(path));
        return directory;
    }
    OutputDirectory(OutputDirectory&&) noexcept = default;
    OutputDirectory& operator=(OutputDirectory&&) = delete;
    ~OutputDirectory() {
        for (const fs::path& path : made_)
            ::rmdir(path.c_str()); // leaves a folder that holds something
    }

  private:
    OutputDirectory() = default;

    std::vector<fs::path> made_; ///< the deepest first
};

/// A folder that is removed again unless it was renamed away.
class TemporaryFolder {
  public:
    static Result<TemporaryFolder> create(const fs::path& directory) {
        std::string path = (directory / ".deepjit-XXXXXX").string();
        if (::mkdtemp(path.data()) == nullptr)
            return cannot("write to", directory, std::error_code(errno, std::generic_category()));
        std::error_code ignored; // mkdtemp gives 0700; the folder is the user's to share
        fs::permissions(path,
                        fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                            fs::perms::others_read | fs::perms::others_exec,
                        ignored);
        return TemporaryFolder(path);
    }
    explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }
    /// Leaves the folder where it is.
    void keep() { path_.clear(); }

  private:
    fs::path path_;
};

Result<void> write_all(const fs::path& folder, const std::vector<EmittedFile>& files) {
    for (const EmittedFile& file : files) {
        const fs::path path = folder / file.path;
        DEEPJIT_CHECK(make_directories(path.parent_path()));
        DEEPJIT_CHECK(write_file_atomically(path, file.contents));
    }
    return {};
}

bool is_present(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(path, ignored));
}

/// Whether `directory` can be written to, or created.
Result<void> check_writable(const fs::path& directory) {
    std::error_code code;
    fs::path nearest = fs::absolute(directory, code);
    while (!is_present(nearest) && nearest.has_relative_path())
        nearest = nearest.parent_path();
    if (!fs::is_directory(nearest, code))
        return cannot("write to", nearest, std::make_error_code(std::errc::not_a_directory));
    if (::access(nearest.c_str(), W_OK) != 0)
        return cannot("write to", nearest, std::error_code(errno, std::generic_category()));
    return {};
}

bool is_real_directory(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(fs::symlink_status(path, ignored));
}

bool holds_listed_files(const fs::path& folder, const HashByPath& listed) {
    const std::string prefix = folder.generic_string() + "/";
    const auto place = listed.lower_bound(prefix);
    return place != listed.end() && place->first.starts_with(prefix);
}

/// Moves what deepjit did not write (a build folder, notes) from the old folder to the new one.
Result<void> carry_over(const fs::path& from, const fs::path& to, const HashByPath& listed,
                        const fs::path& relative) {
    std::error_code code;
    for (const fs::directory_entry& entry : fs::directory_iterator(from / relative, code)) {
        const fs::path path = relative / entry.path().filename();
        if (listed.contains(path.generic_string()) || path == kManifestName) continue;
        const bool is_present_there = is_present(to / path);
        if (is_real_directory(entry.path()) && (is_present_there || holds_listed_files(path, listed))) {
            DEEPJIT_CHECK(carry_over(from, to, listed, path));
            continue;
        }
        if (is_present_there)
            return failure(
                fmt::format("{} is not deepjit's, and a file of that name was written", quoted(from / path)));
        DEEPJIT_CHECK(make_directories((to / path).parent_path()));
        fs::rename(entry.path(), to / path, code);
        if (code) return cannot("move", entry.path(), code);
    }
    if (code) return cannot("read", from / relative, code);
    return {};
}

fs::path free_name_beside(const fs::path& target) {
    fs::path path = target.string() + ".replaced";
    for (int number = 2; is_present(path); ++number)
        path = fmt::format("{}.replaced-{}", target.string(), number);
    return path;
}

/// Puts `fresh` in the place of `target`, whose former contents end up at `old`.
Result<void> swap_in(const fs::path& fresh, const fs::path& target, const fs::path& old) {
    std::error_code code;
    if (is_present(target)) fs::rename(target, old, code);
    if (code) return cannot("replace", target, code);
    fs::rename(fresh, target, code);
    if (!code) return {};
    std::error_code ignored;
    fs::rename(old, target, ignored);
    return cannot("write", target, code);
}

} // namespace

Result<void> check_replaceable(const fs::path& directory, const std::string& name,
                               const WriteOptions& options) {
    DEEPJIT_CHECK(check_writable(directory));
    const fs::path target = directory / name;
    if (options.force || !is_present(target)) return {};
    if (!is_real_directory(target))
        return refused(fmt::format("{} exists and is no folder", quoted(target)), {});
    return check_unedited(target, options);
}

Result<WrittenFolder> write_emitted_folder(const fs::path& directory, const std::string& name,
                                           const std::vector<EmittedFile>& files,
                                           const WriteOptions& options) {
    if (!is_identifier(name))
        return usage_error(fmt::format("'{}' is no plain name for an emitted kernel", printable(name)), {},
                           "use letters, digits and '_'");
    DEEPJIT_CHECK(check_replaceable(directory, name, options));
    DEEPJIT_TRY(const auto output_directory, OutputDirectory::create(directory));

    const fs::path target = directory / name;
    DEEPJIT_TRY(const auto fresh, TemporaryFolder::create(directory));
    DEEPJIT_CHECK(write_all(fresh.path(), files));
    DEEPJIT_CHECK(write_file_atomically(fresh.path() / kManifestName, manifest_text(name, files)));

    WrittenFolder written{target, {}};
    if (!is_present(target)) {
        DEEPJIT_CHECK(swap_in(fresh.path(), target, {}));
        return written;
    }
    WriteOptions unforced = options;
    unforced.force = false;
    if (!check_replaceable(directory, name, unforced)) {
        written.replaced = free_name_beside(target);
        DEEPJIT_CHECK(swap_in(fresh.path(), target, written.replaced));
        return written;
    }
    const HashByPath listed = read_manifest(target).value_or(HashByPath());
    const fs::path old_path = fresh.path().string() + ".old";
    DEEPJIT_CHECK(swap_in(fresh.path(), target, old_path));
    TemporaryFolder old(old_path);
    auto carried = carry_over(old.path(), target, listed, {});
    if (!carried) { // keep whatever could not be moved
        written.replaced = free_name_beside(target);
        std::error_code code;
        fs::rename(old.path(), written.replaced, code);
        if (code) written.replaced = old.path();
        old.keep();
    }
    return written;
}

} // namespace deepjit::emit
