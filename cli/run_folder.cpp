#include "cli/run_folder.hpp"

#include "src/wire/records.hpp"

namespace deepjit::cli {
namespace fs = std::filesystem;

bool holds_recording(const fs::path& run_folder) {
    std::error_code error;
    for (fs::directory_iterator entry(run_folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().extension() == wire::kFileExtension) return true;
    return false;
}

} // namespace deepjit::cli
