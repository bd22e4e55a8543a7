#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deepjit::ingest {

/// Names after `.entry` in PTX text, comments and strings left out; each once, in order.
std::vector<std::string> kernels_of_ptx(std::string_view text);

} // namespace deepjit::ingest
