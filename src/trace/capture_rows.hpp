#pragma once

#include "src/trace/database.hpp"
#include "src/trace/records.hpp"

#include <cstdint>
#include <map>
#include <string>

/// The tables of captured buffers. TraceWriter and Trace use this.
namespace deepjit::trace {

class CaptureRowWriter {
  public:
    Result<void> prepare(const Database& database);
    /// Gives up the statements, so that the database can be closed.
    void release();

    Result<void> add(const CapturedBuffer& buffer);
    Result<void> add(const CapturedLaunch& launch);

  private:
    Statement contents_, buffer_, launch_;
    std::map<std::string, std::int64_t> contents_ids_; ///< by hash
};

/// The contents of a captured buffer by their hash; an error where the trace has none of that hash or they
/// are damaged. `shown_as` names the trace in errors.
Result<std::string> read_captured_bytes(const Database& database, const std::string& hash,
                                        const std::string& shown_as);

} // namespace deepjit::trace
