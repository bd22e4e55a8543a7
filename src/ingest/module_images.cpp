#include "src/ingest/module_images.hpp"

#include "src/base/hash.hpp"
#include "src/ingest/cubin.hpp"
#include "src/ingest/fat_binary.hpp"
#include "src/ingest/hash_text.hpp"
#include "src/ingest/mapped_file.hpp"
#include "src/ingest/ptx_text.hpp"

#include <algorithm>

namespace deepjit::ingest {
namespace {

trace::ImageKind kind_of(wire::ImageKind kind) {
    switch (kind) {
    case wire::ImageKind::Cubin:
        return trace::ImageKind::Cubin;
    case wire::ImageKind::Ptx:
        return trace::ImageKind::Ptx;
    case wire::ImageKind::FatBinary:
        return trace::ImageKind::FatBinary;
    }
    return trace::ImageKind::Other;
}

trace::ImageSource source_of(wire::ImageSource source) {
    switch (source) {
    case wire::ImageSource::ModuleLoaded:
        return trace::ImageSource::ModuleLoaded;
    case wire::ImageSource::LoadCall:
        return trace::ImageSource::LoadCall;
    case wire::ImageSource::File:
        return trace::ImageSource::File;
    }
    return trace::ImageSource::Other;
}

void append(std::vector<std::string>& names, std::vector<std::string> more) {
    names.insert(names.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Kernels of an image; what cannot be read has none.
std::vector<std::string> kernels_of(trace::ImageKind kind, std::string_view bytes) {
    if (kind == trace::ImageKind::Cubin) return kernels_of_cubin(bytes).value_or({});
    if (kind == trace::ImageKind::Ptx) return kernels_of_ptx(bytes);
    std::vector<std::string> names;
    if (kind != trace::ImageKind::FatBinary) return names;
    for (const FatBinaryEntry& entry : read_fat_binary(bytes).value_or({})) {
        if (entry.kind == FatBinaryEntry::Kind::Cubin)
            append(names, kernels_of_cubin(entry.code).value_or({}));
        else if (entry.kind == FatBinaryEntry::Kind::Ptx)
            append(names, kernels_of_ptx(entry.code));
    }
    return names;
}

} // namespace

void ModuleImages::add(const wire::ModuleImage& record, std::string_view path, std::uint32_t process_id) {
    const std::string hash = hash_text(record.hash);
    const auto known = image_ids_.find(hash);
    const std::int64_t image_id = known != image_ids_.end() ? known->second : import_image(hash, record);
    if (image_id == 0) return;
    image_ids_[hash] = image_id;
    trace::ModuleLoad load;
    load.image_id = image_id;
    load.source = source_of(record.source);
    load.path = path;
    load.module_id = record.module_id;
    load.process_id = process_id;
    trace_.add(load);
}

void ModuleImages::add(const wire::ModuleImageTotals& totals) {
    summary_.unreadable_images += static_cast<std::int64_t>(totals.unreadable);
    summary_.missing_images += static_cast<std::int64_t>(totals.unwritten);
}

std::int64_t ModuleImages::import_image(const std::string& hash, const wire::ModuleImage& record) {
    // The name is made of the hash's digits, so that a recording cannot lead out of its folder.
    const auto file =
        MappedFile::open(run_folder_ / (wire::kImageFilePrefix + hash + wire::kImageFileExtension));
    if (!file || hash_hex(file->contents()) != hash) {
        missing_hashes_.insert(hash);
        return 0;
    }
    trace::ModuleImage image;
    image.hash = hash;
    image.kind = kind_of(record.kind);
    image.bytes = file->contents();
    const std::int64_t image_id = trace_.add_module_image(image);
    ++summary_.images;
    for (const std::string& name : kernels_of(image.kind, image.bytes)) {
        trace_.add(trace::ModuleKernel{image_id, name});
        kernels_with_image_.insert(name);
    }
    return image_id;
}

ModuleImageSummary ModuleImages::summary() const {
    ModuleImageSummary summary = summary_;
    summary.missing_images += static_cast<std::int64_t>(missing_hashes_.size());
    summary.launched_kernels = static_cast<std::int64_t>(launched_kernels_.size());
    summary.kernels_without_image =
        std::count_if(launched_kernels_.begin(), launched_kernels_.end(),
                      [this](const std::string& name) { return !kernels_with_image_.contains(name); });
    return summary;
}

} // namespace deepjit::ingest
