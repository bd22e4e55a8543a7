#pragma once

#include "src/trace/trace.hpp"
#include "src/wire/records.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace deepjit::ingest {

/// What is known of a run's device code.
struct ModuleImageSummary {
    std::int64_t images = 0;
    std::int64_t unreadable_images = 0; ///< seen by the tracer, which could not tell their size or read them
    std::int64_t missing_images = 0;    ///< recorded, but not in the run folder, or not with that content
    std::int64_t launched_kernels = 0;  ///< distinct names
    std::int64_t kernels_without_image = 0;
};

/// Moves the images of a run folder into the trace, each once, with the kernels they hold. Nothing in them is
/// executed. A damaged image is kept, for what it is worth, with no kernels.
class ModuleImages {
  public:
    ModuleImages(trace::TraceWriter& trace, std::filesystem::path run_folder)
        : trace_(trace), run_folder_(std::move(run_folder)) {}

    void add(const wire::ModuleImage& record, std::string_view path, std::uint32_t process_id);
    void add(const wire::ModuleImageTotals& totals);
    void add_launched_kernel(const std::string& mangled_name) { launched_kernels_.insert(mangled_name); }

    /// Complete once all recordings were added.
    ModuleImageSummary summary() const;

  private:
    std::int64_t import_image(const std::string& hash, const wire::ModuleImage& record);

    trace::TraceWriter& trace_;
    std::filesystem::path run_folder_;
    std::set<std::string> missing_hashes_;
    std::set<std::string> launched_kernels_;
    std::set<std::string> kernels_with_image_;
    std::map<std::string, std::int64_t> image_ids_;
    ModuleImageSummary summary_;
};

} // namespace deepjit::ingest
