#pragma once

#include "src/trace/database.hpp"
#include "src/trace/records.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

/// The tables of device code (module_image_entry and what refers to it). TraceWriter and Trace use this.
namespace deepjit::trace {

/// Inserts images, each content once.
class ModuleRowWriter {
  public:
    Result<void> prepare(const Database& database);
    /// Gives up the statements, so that the database can be closed.
    void release();

    /// The id of the image with this content, inserted where it is new.
    Result<std::int64_t> add_image(const ModuleImage& image);
    Result<void> add_load(const ModuleLoad& load);
    Result<void> add_kernel(std::int64_t image_id, std::int64_t mangled_name_id);

  private:
    Statement image_, load_, kernel_;
    std::unordered_map<std::string, std::int64_t> image_ids_;
};

/// The image with its bytes as they were loaded; an error where the id is unknown, or where the bytes are not
/// those that were stored. `shown_as` names the trace in errors.
Result<ModuleImage> read_module_image(const Database& database, std::int64_t image_id,
                                      const std::string& shown_as);

} // namespace deepjit::trace
