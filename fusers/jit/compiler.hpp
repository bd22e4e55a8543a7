#pragma once

#include "src/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

/// CUDA C++ text to loadable device code.
namespace deepjit::jit {

/// "sm_90" asks for a cubin, "compute_90" for PTX that newer devices can still run.
struct Architecture {
    int capability = 0; ///< 90 for sm_90
    std::string suffix; ///< "a" and "f" give up portability; mostly empty
    bool is_ptx = false;

    /// "sm_90a"
    std::string name() const;
    friend bool operator==(const Architecture&, const Architecture&) = default;
};

/// Refuses text that is no architecture, without asking NVRTC.
Result<Architecture> parse_architecture(std::string_view text);

/// Those that the NVRTC of this machine can compile for, or why there is none.
Result<std::vector<int>> supported_capabilities();

struct CompileRequest {
    std::string name;   ///< of the kernel; stands for the file name in compiler messages
    std::string source; ///< self-contained
    Architecture architecture;
    /// After the base options, in order. Fast math only where somebody asked for it.
    std::vector<std::string> options{};
    std::string specialization{}; ///< anything else that makes the result differ, part of the cache key
};

/// What ptxas reported for one entry; zero for PTX.
struct EntryResources {
    std::string name;
    int registers_per_thread = 0;
    int stack_bytes = 0;
    int spill_store_bytes = 0;
    int spill_load_bytes = 0;
    int static_shared_bytes = 0;
};

struct CompiledKernel {
    Architecture architecture;
    std::string image;                   ///< cubin or PTX text, as Module::load takes it
    std::vector<EntryResources> entries; ///< in ptxas' order, which is not the source's; empty for PTX
    std::string log;                     ///< the compiler's warnings, without ptxas' figures
    double compile_ms = 0;               ///< what the compiler took, also when it came from a cache
};

/// The options that every compilation gets ahead of its own: the language level, the architecture and what
/// makes ptxas report its figures.
std::vector<std::string> all_options(const CompileRequest& request);

/// Compiles here and now. Errors: no NVRTC or an architecture that it does not know (Environment and Usage,
/// with the list that it does know), or a compile error (Failed; the evidence is the log's first errors, each
/// with the line of the source it points at).
Result<CompiledKernel> compile_uncached(const CompileRequest& request);

} // namespace deepjit::jit
