#pragma once

#include "cli/recording_outcome.hpp"
#include "cli/terminal.hpp"
#include "src/ingest/import_wire.hpp"

#include <filesystem>

namespace deepjit::cli {

/// Says on stderr what a finished trace holds, what it lacks and what to do next. RecordsMissing is left to
/// the caller, for whom it may be a failure.
void report_import(Terminal& terminal, const ingest::ImportSummary& summary, const RecordingOutcome& outcome,
                   const std::filesystem::path& trace_path);

} // namespace deepjit::cli
