#include "cli/stub_driver.hpp"

#include <algorithm>

namespace deepjit::cli {
namespace fs = std::filesystem;

std::optional<fs::path> stub_driver_in(std::string_view library_path) {
    while (!library_path.empty()) {
        const std::size_t end = std::min(library_path.find_first_of(":;"), library_path.size());
        fs::path folder(library_path.substr(0, end));
        library_path.remove_prefix(std::min(end + 1, library_path.size()));
        std::error_code error;
        if (!fs::exists(folder / "libcuda.so.1", error)) continue;
        if (!folder.has_filename()) folder = folder.parent_path(); // it ended in a slash
        if (folder.filename() == "stubs") return folder / "libcuda.so.1";
        return std::nullopt;
    }
    return std::nullopt;
}

} // namespace deepjit::cli
