#pragma once

#include "src/model/launch_summary.hpp"

#include <cstddef>
#include <string>

namespace deepjit::reports {

inline constexpr int kLaunchSummarySchemaVersion = 1;

/// What `deepjit model` prints, within `width` columns (40 at least).
std::string launch_summary_text(const model::LaunchSummary& summary, std::size_t width = 80);

/// The same for programs: schema_version, and l_ns, t_ns, launch_share and so on where they follow. Its keys
/// are documented in reports/schema/model.schema.json.
std::string launch_summary_json(const model::LaunchSummary& summary);

} // namespace deepjit::reports
