#include "cli/run_folder.hpp"

#include "src/ingest/mapped_file.hpp"
#include "src/wire/reader.hpp"

#include <algorithm>
#include <vector>

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

bool holds_recording(const fs::path& run_folder) {
    return !recordings_in(run_folder).empty();
}

bool holds_recording_of_cuda(const fs::path& run_folder) {
    const std::vector<fs::path> recordings = recordings_in(run_folder);
    return std::any_of(recordings.begin(), recordings.end(), is_of_cuda);
}

} // namespace deepjit::cli
