#pragma once

#include "src/model/trace_data.hpp"

#include <string_view>

namespace deepjit::tests {

/// A trace written as text, one record a line; `#` begins a comment. Times are microseconds from an arbitrary
/// start, addresses hexadecimal.
///
///   kernel NAME at START for DURATION [stream N] [graph G launch C] [call AT for DURATION] [thread N]
///          [untimed] [args WORD...]
///   launch-less kernels leave out `call`. `args` takes one word for each parameter of NAME's signature;
///          "n:8" is a 4-byte integer, "[a b c]" one by-value struct of three words.
///          An `untimed` kernel is one whose times CUPTI could not take: both are 0 in the trace.
///   copy KIND at START for DURATION bytes N [from A] [to A] [stream N] [pageable] [call AT for DURATION]
///   call CATEGORY API at START for DURATION [thread N]
///   alloc ADDRESS bytes N [at START] [free END]
///   overhead KIND at START for DURATION
///   calibrate tracer_launch|graph_node|graph_intercept|stream_launch NANOSECONDS
///   repeat N every PERIOD { ... }    the lines between the braces N times, shifted in time
///
/// NAME with spaces stands in double quotes. Throws std::runtime_error that names the line.
model::TraceData parse_text_trace(std::string_view text);

} // namespace deepjit::tests
