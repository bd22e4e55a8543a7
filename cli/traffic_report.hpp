#pragma once

#include "cli/terminal.hpp"
#include "src/ingest/kernel_traffic_summary.hpp"

namespace deepjit::cli {

/// Says how many kernels have measured memory traffic, and warns of what is missing and why.
void report_traffic(Terminal& terminal, const ingest::TrafficSummary& traffic);

/// Why the counters could not be read, with the remedy for this cause.
Diagnostic explain_missing_counters(const ingest::TrafficSummary& traffic);

} // namespace deepjit::cli
