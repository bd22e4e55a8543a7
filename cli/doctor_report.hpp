#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What `deepjit doctor` found, and its two renderings. Pure.
namespace deepjit::cli {

enum class CheckStatus {
    Pass,
    Warn, ///< works, but something is lost or may go wrong
    Fail, ///< deepjit cannot do its work here
    Skip, ///< could not be checked, because something that it needs failed
};

struct CheckResult {
    std::string id; ///< stable, snake_case: "self_test"
    CheckStatus status = CheckStatus::Pass;
    std::string evidence; ///< what was seen, one sentence
    std::string remedy;   ///< what to do, empty for Pass
};

std::string_view to_text(CheckStatus status);

/// True when no check failed.
bool is_fit(const std::vector<CheckResult>& checks);

/// One line a check, its remedy below it, and a summary.
std::string render_doctor_text(const std::vector<CheckResult>& checks, bool with_color, std::size_t columns);

/// {"schema_version": 1, "fit": bool, "counts": {...}, "checks": [{"id", "status", "evidence", "remedy"}]}
std::string render_doctor_json(const std::vector<CheckResult>& checks);

} // namespace deepjit::cli
