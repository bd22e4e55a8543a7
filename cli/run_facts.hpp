#pragma once

#include "src/gpu/calibration.hpp"
#include "src/ingest/import_wire.hpp"

#include <optional>
#include <string_view>

namespace deepjit::cli {

/// `meta` of every trace that this tool writes: its version, the command, the host.
ingest::RunFacts run_facts(std::string_view source);

/// The constants of this machine, under trace::meta_key; what could not be measured stays absent.
void add_calibration(ingest::RunFacts& facts, const gpu::Calibration& calibration);

} // namespace deepjit::cli
