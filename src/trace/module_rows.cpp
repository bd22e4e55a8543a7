#include "src/trace/module_rows.hpp"

#include "src/base/hash.hpp"

#include <fmt/format.h>
#include <zlib.h>

namespace deepjit::trace {
namespace {

constexpr std::string_view kNone = "none";
constexpr std::string_view kZlib = "zlib";
/// A damaged or made-up trace must not make its reader allocate whatever it says.
constexpr std::int64_t kMaxImageBytes = std::int64_t{1} << 30U;

/// The bytes compressed, or empty where that saves less than a tenth.
std::string compressed(std::string_view bytes) {
    if (bytes.size() < 64 || bytes.size() > static_cast<std::size_t>(kMaxImageBytes)) return {};
    std::string out(compressBound(bytes.size()), '\0');
    uLongf size = out.size();
    if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                  bytes.size(), Z_BEST_SPEED) != Z_OK)
        return {};
    if (size > bytes.size() / 10 * 9) return {};
    out.resize(size);
    return out;
}

/// False where `data` is not exactly `bytes.size()` bytes, compressed.
bool decompress(std::string_view data, std::string& bytes) {
    uLongf size = bytes.size();
    const int code = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                                reinterpret_cast<const Bytef*>(data.data()), data.size());
    return code == Z_OK && size == bytes.size();
}

ImageKind kind_of(std::int64_t number) {
    const bool known = number >= 1 && number <= static_cast<std::int64_t>(ImageKind::FatBinary);
    return known ? static_cast<ImageKind>(number) : ImageKind::Other;
}

} // namespace

Result<void> ModuleRowWriter::prepare(const Database& database) {
    DEEPJIT_TRY(image_, database.prepare("INSERT INTO module_image_entry (image_id, hash, kind, bytes, "
                                         "compression, data) VALUES (?,?,?,?,?,?)"));
    DEEPJIT_TRY(load_, database.prepare("INSERT INTO module_load_entry (image_id, process_id, source, "
                                        "module_id, path) VALUES (?,?,?,?,?)"));
    DEEPJIT_TRY(kernel_, database.prepare("INSERT OR IGNORE INTO module_kernel_entry (image_id, "
                                          "mangled_name_id) VALUES (?,?)"));
    return {};
}

void ModuleRowWriter::release() {
    image_ = Statement();
    load_ = Statement();
    kernel_ = Statement();
}

Result<std::int64_t> ModuleRowWriter::add_image(const ModuleImage& image) {
    const auto [entry, is_new] =
        image_ids_.try_emplace(image.hash, static_cast<std::int64_t>(image_ids_.size()) + 1);
    if (!is_new) return entry->second;
    const std::string packed = compressed(image.bytes);
    DEEPJIT_CHECK(image_.run(entry->second, std::string_view(image.hash), static_cast<int>(image.kind),
                             image.bytes.size(), packed.empty() ? kNone : kZlib,
                             Blob{packed.empty() ? image.bytes : packed}));
    return entry->second;
}

Result<void> ModuleRowWriter::add_load(const ModuleLoad& load) {
    return load_.run(load.image_id, load.process_id, static_cast<int>(load.source), load.module_id,
                     std::string_view(load.path));
}

Result<void> ModuleRowWriter::add_kernel(std::int64_t image_id, std::int64_t mangled_name_id) {
    return kernel_.run(image_id, mangled_name_id);
}

Result<ModuleImage> read_module_image(const Database& database, std::int64_t image_id,
                                      const std::string& shown_as) {
    DEEPJIT_TRY(Statement row, database.prepare("SELECT hash, kind, bytes, compression, data "
                                                "FROM module_image_entry WHERE image_id = ?"));
    row.bind(1, image_id);
    DEEPJIT_TRY(const bool found, row.step());
    if (!found) return failure(fmt::format("the trace '{}' holds no image {}", shown_as, image_id));
    const auto damaged = [&](std::string_view evidence) {
        return failure(fmt::format("image {} of the trace '{}' is damaged", image_id, shown_as),
                       std::string(evidence), "record the trace again with 'deepjit profile'");
    };
    ModuleImage image;
    image.image_id = image_id;
    image.hash = row.bytes(0);
    image.kind = kind_of(row.integer(1));
    const std::int64_t bytes = row.integer(2);
    const std::string compression = row.bytes(3);
    if (compression == kNone) {
        image.bytes = row.bytes(4);
    } else if (compression == kZlib) {
        if (bytes < 0 || bytes > kMaxImageBytes) return damaged("its size cannot be");
        image.bytes.resize(static_cast<std::size_t>(bytes));
        if (!decompress(row.bytes(4), image.bytes)) return damaged("it cannot be decompressed");
    } else {
        return damaged("its compression is unknown");
    }
    if (hash_hex(image.bytes) != image.hash) return damaged("its bytes do not have its hash");
    return image;
}

} // namespace deepjit::trace
