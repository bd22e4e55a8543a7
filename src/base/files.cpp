#include "src/base/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace deepjit {
namespace fs = std::filesystem;
namespace {

Diagnostic io_failure(std::string_view action, const fs::path& path, int error_number) {
    std::string hint;
    if (error_number == ENOSPC || error_number == EDQUOT) hint = "free some space, or write to another disk";
    if (error_number == EROFS || error_number == EACCES || error_number == EPERM)
        hint = action == "read" ? "check that you may read it" : "choose a folder that you may write to";
    if (error_number == ENOENT && action == "read") hint = "check the path";
    if (error_number == ENAMETOOLONG) hint = "choose a shorter name";
    if (error_number == EISDIR && action == "write") hint = "name a file in it";
    if (error_number == ENOENT && action == "write") hint = "create its folder first";
    return failure(fmt::format("cannot {} '{}'", action, path.string()), system_error_text(error_number),
                   hint);
}

class FileDescriptor {
  public:
    explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
    ~FileDescriptor() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    int get() const { return descriptor_; }
    /// close() is where some file systems report a full disk.
    int close() { return ::close(std::exchange(descriptor_, -1)); }

  private:
    int descriptor_;
};

} // namespace

std::string system_error_text(int error_number) {
    return std::generic_category().message(error_number);
}

Result<std::string> read_file(const fs::path& path) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return io_failure("read", path, errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return io_failure("read", path, errno);
    if (S_ISDIR(status.st_mode)) return io_failure("read", path, EISDIR);
    std::string contents;
    contents.reserve(static_cast<std::size_t>(status.st_size));
    char buffer[1 << 16];
    for (;;) {
        const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
        if (count == 0) return contents;
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return io_failure("read", path, errno);
        contents.append(buffer, static_cast<std::size_t>(count));
    }
}

Result<fs::path> follow_links(const fs::path& path) {
    constexpr int kMaxLinks = 40; // as Linux
    fs::path target = path;
    std::error_code error;
    for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
        if (links == kMaxLinks) return io_failure("write", path, ELOOP);
        const fs::path points_to = fs::read_symlink(target, error);
        if (error) return io_failure("write", path, error.value());
        target = target.parent_path() / points_to; // an absolute one replaces the whole
    }
    return target;
}

/// Devices and pipes keep no old contents to protect, and a rename would put a file in their place.
static Result<void> write_through(const fs::path& path, std::string_view contents) {
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) return io_failure("write", path, errno);
    while (!contents.empty()) {
        const ssize_t count = ::write(file.get(), contents.data(), contents.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return io_failure("write", path, errno);
        contents.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

Result<void> write_file_atomically(const fs::path& given_path, std::string_view contents) {
    std::error_code unresolved;
    const fs::file_status status = fs::status(given_path, unresolved);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
        return write_through(given_path, contents);
    DEEPJIT_TRY(const fs::path path, follow_links(given_path));
    // A name of its own: appended to the file's it could become longer than the file system takes.
    std::string temporary = (path.parent_path() / ".deepjit-XXXXXX").string();
    FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (file.get() < 0) return io_failure("write", path, errno);
    const auto give_up = [&](int error_number) {
        ::unlink(temporary.c_str());
        return io_failure("write", path, error_number);
    };
    while (!contents.empty()) {
        const ssize_t count = ::write(file.get(), contents.data(), contents.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return give_up(errno);
        contents.remove_prefix(static_cast<std::size_t>(count));
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(file.get(), 0666 & ~mask) != 0 || file.close() != 0) return give_up(errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) return give_up(errno);
    return {};
}

Result<void> make_private_directory(const fs::path& path) {
    std::error_code error;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
    if (error) return io_failure("create", path.parent_path(), error.value());
    if (::mkdir(path.c_str(), 0700) == 0) return {};
    if (errno != EEXIST) return io_failure("create", path, errno);
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return io_failure("create", path, errno);
    if (!S_ISDIR(status.st_mode)) return io_failure("create", path, ENOTDIR);
    if (status.st_uid != ::geteuid())
        return failure(fmt::format("the folder '{}' belongs to another user", path.string()), {},
                       "remove it, or choose another with DEEPJIT_CACHE_DIR");
    return {};
}

Result<fs::path> make_temporary_directory(std::string_view prefix) {
    std::error_code error;
    fs::path parent = fs::temp_directory_path(error);
    if (error) parent = "/tmp";
    std::string pattern = (parent / fmt::format("{}.XXXXXX", prefix)).string();
    if (::mkdtemp(pattern.data()) == nullptr) return io_failure("create a folder in", parent, errno);
    return fs::path(pattern);
}

fs::path user_cache_directory() {
    const auto environment = [](const char* name) -> std::string_view {
        const char* value = std::getenv(name);
        return value == nullptr ? std::string_view{} : std::string_view(value);
    };
    if (const auto chosen = environment("DEEPJIT_CACHE_DIR"); !chosen.empty()) return fs::path(chosen);
    if (const auto xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return fs::path(xdg) / "deepjit";
    if (const auto home = environment("HOME"); !home.empty()) return fs::path(home) / ".cache" / "deepjit";
    return fs::path("/tmp") / fmt::format("deepjit-cache-{}", ::geteuid());
}

fs::path executable_path() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error);
}

} // namespace deepjit
