#include "src/trace/module_rows.hpp"

#include "src/trace/compressed_blob.hpp"

#include <fmt/format.h>

namespace deepjit::trace {
namespace {

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
    const StoredBytes stored = pack(image.bytes);
    DEEPJIT_CHECK(image_.run(entry->second, std::string_view(image.hash), static_cast<int>(image.kind),
                             image.bytes.size(), stored.compression,
                             Blob{stored.packed.empty() ? image.bytes : stored.packed}));
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
    ModuleImage image;
    image.image_id = image_id;
    image.hash = row.bytes(0);
    image.kind = kind_of(row.integer(1));
    auto bytes = unpack(row.bytes(4), row.bytes(3), row.integer(2), image.hash);
    if (!bytes)
        return failure(fmt::format("image {} of the trace '{}' is damaged", image_id, shown_as),
                       bytes.error().message, "record the trace again with 'deepjit profile'");
    image.bytes = *std::move(bytes);
    return image;
}

} // namespace deepjit::trace
