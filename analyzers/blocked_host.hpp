#pragma once

#include "analyzers/evidence.hpp"

#include <vector>

namespace deepjit::analyzers {

/// What kept the host from launching within the frame: one finding for each call that did, with its time.
std::vector<model::Finding> find_blocked_host(const Evidence& evidence);

} // namespace deepjit::analyzers
