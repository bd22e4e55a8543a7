#pragma once

#include "src/gpu/calibration.hpp"
#include "src/ingest/import_wire.hpp"

#include <filesystem>
#include <optional>
#include <string_view>

namespace deepjit::cli {

/// `meta` of every trace that this tool writes: its version, the command, the host.
ingest::RunFacts run_facts(std::string_view source);

/// The constants of this machine, under trace::meta_key; what could not be measured stays absent.
void add_calibration(ingest::RunFacts& facts, const gpu::Calibration& calibration);

/// Keeps the facts in the run folder (run.json), for a recording that is imported later or elsewhere.
Result<void> save_run_facts(const std::filesystem::path& run_folder, const ingest::RunFacts& facts);

/// Adds what run.json of the folder holds: calibration, the program's status, the host that recorded. The
/// folder's word goes before what `facts` held. A folder without the file adds nothing.
Result<void> add_saved_facts(const std::filesystem::path& run_folder, ingest::RunFacts& facts);

} // namespace deepjit::cli
