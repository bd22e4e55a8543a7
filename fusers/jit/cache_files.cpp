#include "fusers/jit/cache_files.hpp"

#include "src/base/files.hpp"
#include "src/base/hash.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace deepjit::jit {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kMagic = "deepjit-kernel-1 ";

fs::path entry_path(const fs::path& folder, const std::string& key) {
    return folder / (key + ".entry");
}

fs::path image_path(const fs::path& folder, const std::string& key, bool is_ptx) {
    return folder / (key + (is_ptx ? ".ptx" : ".cubin"));
}

json to_json(const CompiledKernel& kernel) {
    json entries = json::array();
    for (const EntryResources& entry : kernel.entries)
        entries.push_back({{"name", entry.name},
                           {"registers_per_thread", entry.registers_per_thread},
                           {"stack_bytes", entry.stack_bytes},
                           {"spill_store_bytes", entry.spill_store_bytes},
                           {"spill_load_bytes", entry.spill_load_bytes},
                           {"static_shared_bytes", entry.static_shared_bytes}});
    return {{"architecture", kernel.architecture.name()},
            {"image_hash", hash_hex(kernel.image)},
            {"image_bytes", kernel.image.size()},
            {"compile_ms", kernel.compile_ms},
            {"log", kernel.log},
            {"entries", entries}};
}

CompiledKernel kernel_from(const json& description) {
    CompiledKernel kernel;
    const auto architecture = parse_architecture(description.at("architecture").get<std::string>());
    if (architecture) kernel.architecture = *architecture;
    kernel.compile_ms = description.at("compile_ms").get<double>();
    kernel.log = description.at("log").get<std::string>();
    for (const json& entry : description.at("entries"))
        kernel.entries.push_back({.name = entry.at("name").get<std::string>(),
                                  .registers_per_thread = entry.at("registers_per_thread").get<int>(),
                                  .stack_bytes = entry.at("stack_bytes").get<int>(),
                                  .spill_store_bytes = entry.at("spill_store_bytes").get<int>(),
                                  .spill_load_bytes = entry.at("spill_load_bytes").get<int>(),
                                  .static_shared_bytes = entry.at("static_shared_bytes").get<int>()});
    return kernel;
}

bool lies_at(int descriptor, const fs::path& path) {
    struct stat held {};
    struct stat named {};
    return ::fstat(descriptor, &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
           held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

} // namespace

StoredEntry read_entry(const fs::path& folder, const std::string& key) {
    std::error_code error;
    const fs::path path = entry_path(folder, key);
    if (!fs::exists(path, error)) return {};
    const auto text = read_file(path);
    if (!text) return {std::nullopt, text.error().message};
    const std::string_view contents = *text;
    const std::size_t header_bytes = kMagic.size() + 32 + 1; // magic, hash in hexadecimal, newline
    if (!contents.starts_with(kMagic) || contents.size() < header_bytes)
        return {std::nullopt, fmt::format("'{}' is truncated", path.string())};
    const std::string_view body = contents.substr(header_bytes);
    if (hash_hex(body) != contents.substr(kMagic.size(), 32))
        return {std::nullopt, fmt::format("the checksum of '{}' does not match", path.string())};
    const json description = json::parse(body, nullptr, false);
    if (description.is_discarded()) return {std::nullopt, fmt::format("'{}' is not JSON", path.string())};
    try {
        CompiledKernel kernel = kernel_from(description);
        const fs::path image_file = image_path(folder, key, kernel.architecture.is_ptx);
        auto image = read_file(image_file);
        if (!image) return {std::nullopt, image.error().message};
        if (hash_hex(*image) != description.at("image_hash").get<std::string>())
            return {std::nullopt, fmt::format("the checksum of '{}' does not match", image_file.string())};
        kernel.image = *std::move(image);
        return {std::move(kernel), {}};
    } catch (const json::exception& exception) {
        return {std::nullopt, fmt::format("'{}': {}", path.string(), exception.what())};
    }
}

Result<void> write_entry(const fs::path& folder, const std::string& key, const CompiledKernel& kernel) {
    DEEPJIT_CHECK(write_file_atomically(image_path(folder, key, kernel.architecture.is_ptx), kernel.image));
    // Compiler messages may quote bytes of the source that are not UTF-8.
    const std::string body = to_json(kernel).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
    return write_file_atomically(entry_path(folder, key),
                                 fmt::format("{}{}\n{}", kMagic, hash_hex(body), body));
}

std::optional<EntryLock> EntryLock::acquire(const fs::path& folder, const std::string& key,
                                            double wait_seconds) {
    const fs::path path = folder / (key + ".lock");
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<long>(wait_seconds * 1000));
    for (;;) {
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (descriptor < 0) return std::nullopt;
        bool held = false;
        while (!(held = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)) {
            if (errno != EWOULDBLOCK && errno != EINTR) break;
            if (std::chrono::steady_clock::now() >= deadline) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        if (!held) {
            ::close(descriptor);
            return std::nullopt;
        }
        // The previous holder removed the file between our open and our lock: that lock guards nothing.
        if (lies_at(descriptor, path)) return EntryLock(descriptor, path);
        ::close(descriptor);
    }
}

EntryLock::EntryLock(EntryLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

EntryLock::~EntryLock() {
    if (descriptor_ < 0) return;
    ::unlink(path_.c_str()); // while it is held, so that a waiter notices
    ::close(descriptor_);
}

} // namespace deepjit::jit
