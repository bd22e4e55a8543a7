#include "cli/doctor_report.hpp"

#include "src/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace deepjit::cli {
namespace {

constexpr int kDoctorSchemaVersion = 1;
constexpr std::size_t kNarrowestText = 20;
constexpr std::array kStatuses = {CheckStatus::Pass, CheckStatus::Warn, CheckStatus::Fail, CheckStatus::Skip};

int count_of(const std::vector<CheckResult>& checks, CheckStatus status) {
    return static_cast<int>(std::count_if(checks.begin(), checks.end(),
                                          [&](const CheckResult& check) { return check.status == status; }));
}

std::string_view color_of(CheckStatus status) {
    switch (status) {
    case CheckStatus::Pass:
        return "32";
    case CheckStatus::Warn:
        return "33";
    case CheckStatus::Fail:
        return "31";
    case CheckStatus::Skip:
        return "2";
    }
    return "0";
}

} // namespace

std::string_view to_text(CheckStatus status) {
    switch (status) {
    case CheckStatus::Pass:
        return "pass";
    case CheckStatus::Warn:
        return "warn";
    case CheckStatus::Fail:
        return "fail";
    case CheckStatus::Skip:
        return "skip";
    }
    return "skip";
}

bool is_fit(const std::vector<CheckResult>& checks) {
    return count_of(checks, CheckStatus::Fail) == 0;
}

std::string render_doctor_text(const std::vector<CheckResult>& checks, bool with_color, std::size_t columns) {
    std::size_t id_width = 0;
    for (const CheckResult& check : checks)
        id_width = std::max(id_width, check.id.size());
    const std::size_t indent = std::string_view("pass  ").size() + id_width + 2;
    const std::size_t width = columns > indent + kNarrowestText ? columns - indent : kNarrowestText;
    std::string text;
    for (const CheckResult& check : checks) {
        const std::string_view status = to_text(check.status);
        text += with_color ? fmt::format("\x1b[{}m{}\x1b[0m", color_of(check.status), status)
                           : std::string(status);
        std::string lines = wrap_words(printable(check.evidence), width, width);
        if (!check.remedy.empty())
            lines += "\n" + wrap_words("hint: " + printable(check.remedy), width, width);
        text += fmt::format("  {:<{}}  ", check.id, id_width);
        for (const char c : lines) {
            text += c;
            if (c == '\n') text.append(indent, ' ');
        }
        text += '\n';
    }
    std::vector<std::string> counts;
    for (const CheckStatus status : kStatuses)
        counts.push_back(fmt::format("{} {}", count_of(checks, status), to_text(status)));
    return text + fmt::format("\n{}: this machine is {} for profiling\n", fmt::join(counts, ", "),
                              is_fit(checks) ? "fit" : "not fit");
}

std::string render_doctor_json(const std::vector<CheckResult>& checks) {
    nlohmann::ordered_json report;
    report["schema_version"] = kDoctorSchemaVersion;
    report["fit"] = is_fit(checks);
    for (const CheckStatus status : kStatuses)
        report["counts"][std::string(to_text(status))] = count_of(checks, status);
    report["checks"] = nlohmann::ordered_json::array();
    for (const CheckResult& check : checks)
        report["checks"].push_back({{"id", check.id},
                                    {"status", to_text(check.status)},
                                    {"evidence", printable(check.evidence)},
                                    {"remedy", printable(check.remedy)}});
    return report.dump(2) + "\n";
}

} // namespace deepjit::cli
