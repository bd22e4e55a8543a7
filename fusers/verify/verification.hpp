#pragma once

#include "fusers/verify/numeric_gate.hpp"
#include "src/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The verdict of the numeric gate as data: what verify.json holds.
namespace deepjit::verify {

enum class VerificationStatus {
    NotRun, ///< no GPU, or the kernel is for another one
    Passed,
    Failed,
};

std::string_view name_of(VerificationStatus status); ///< "not run", "passed", "failed"

/// One output over all cases.
struct OutputVerdict {
    std::string name;
    graph::DType dtype = graph::DType::Float32;
    OutputError fused;
    OutputError original;
    std::int64_t different_bits = 0; ///< elements in which fused and original differ; NaNs count as equal
    GateResult gate;
};

struct Verification {
    VerificationStatus status = VerificationStatus::NotRun;
    std::string reason;      ///< why it was not run, or what failed; a sentence
    std::string device_name; ///< empty when not run
    std::string chain_hash;
    std::string source_hash;   ///< of the kernel text that was verified
    std::string original_side; ///< what "original" means here
    graph::Rounding rounding = graph::Rounding::Match;
    std::vector<std::string> cases; ///< names of the cases run, with lengths and shifts
    std::vector<OutputVerdict> outputs;
    std::int64_t guard_bytes_changed = 0; ///< bytes written outside an output
    bool inputs_unchanged = true;

    bool passed() const { return status == VerificationStatus::Passed; }
    bool bit_identical() const;
};

Verification not_run(std::string reason);

/// verify.json, with `schema_version`.
std::string to_json(const Verification& verification);

} // namespace deepjit::verify
