#include "cli/run_folder.hpp"

#include "src/base/files.hpp"
#include "src/base/text.hpp"
#include "src/ingest/mapped_file.hpp"
#include "src/wire/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace deepjit::cli {
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> recordings_in(const fs::path& run_folder) {
    std::vector<fs::path> recordings;
    std::error_code error;
    for (fs::directory_iterator entry(run_folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().extension() == wire::kFileExtension) recordings.push_back(entry->path());
    return recordings;
}

bool is_of_cuda(const fs::path& recording) {
    const auto file = ingest::MappedFile::open(recording);
    if (!file) return true;
    auto reader = wire::Reader::over(file->contents());
    if (!reader) return true;
    bool tells = false;
    while (const auto record = reader->next()) {
        if (record->kind != wire::RecordKind::TracerStatus) continue;
        if ((record->flags & wire::TracerStatus::kBeforeCuda) == 0) return true;
        tells = true;
    }
    return !tells;
}

} // namespace

Result<void> make_run_folder(const fs::path& run_folder) {
    const std::string shown = printable(run_folder.string());
    std::error_code error;
    if (run_folder.has_parent_path()) fs::create_directories(run_folder.parent_path(), error);
    if (!error && ::mkdir(run_folder.c_str(), 0700) == 0) return {};
    const int error_number = error ? error.value() : errno;
    if (error_number != EEXIST)
        return failure(fmt::format("cannot make the folder '{}'", shown), system_error_text(error_number));
    const auto refusal = [&](std::string_view why) {
        return usage_error(fmt::format("'{}' {}", shown, why), {},
                           "choose a folder that is not there yet with -o");
    };
    struct stat status {};
    if (::lstat(run_folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        return refusal("is there already and is not a folder");
    if (status.st_uid != ::geteuid()) return refusal("belongs to another user");
    if (!fs::is_empty(run_folder, error) || error) return refusal("is there already and is not empty");
    fs::permissions(run_folder, fs::perms::owner_all, error);
    if (error) return failure(fmt::format("cannot make '{}' private", shown), error.message());
    return {};
}

bool holds_recording(const fs::path& run_folder) {
    return !recordings_in(run_folder).empty();
}

bool holds_recording_of_cuda(const fs::path& run_folder) {
    const std::vector<fs::path> recordings = recordings_in(run_folder);
    return std::any_of(recordings.begin(), recordings.end(), is_of_cuda);
}

std::vector<std::int64_t> running_processes(const fs::path& run_folder) {
    std::vector<std::int64_t> processes;
    for (const fs::path& recording : recordings_in(run_folder)) {
        const int file = ::open(recording.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file < 0) continue;
        struct flock lock {};
        lock.l_type = F_RDLCK; // the tracer holds a write lock on the first byte
        lock.l_whence = SEEK_SET;
        lock.l_len = 1;
        if (::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
            processes.push_back(std::max<std::int64_t>(lock.l_pid, 0));
        ::close(file);
    }
    std::sort(processes.begin(), processes.end());
    return processes;
}

} // namespace deepjit::cli
