#include "src/ingest/mapped_file.hpp"

#include "src/base/files.hpp"
#include "src/base/text.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace deepjit::ingest {

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
    const auto cannot_read = [&](int error_number) {
        return failure("cannot read the recording '" + printable(path.string()) + "'",
                       system_error_text(error_number));
    };
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return cannot_read(errno);
    struct stat status {};
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(file);
        return cannot_read(EINVAL);
    }
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* const address = bytes == 0 ? nullptr : ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    const int error_number = errno;
    ::close(file);
    if (address == MAP_FAILED) return cannot_read(error_number);
    return MappedFile(std::string_view(static_cast<const char*>(address), bytes));
}

MappedFile::~MappedFile() {
    if (!contents_.empty()) ::munmap(const_cast<char*>(contents_.data()), contents_.size());
}

} // namespace deepjit::ingest
