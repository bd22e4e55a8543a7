#pragma once

#include "src/model/launch_summary.hpp"

#include <string>

namespace deepjit::reports {

inline constexpr int kLaunchSummarySchemaVersion = 1;

/// What `deepjit model` prints, within 80 columns.
std::string launch_summary_text(const model::LaunchSummary& summary);

/// The same for programs: schema_version, and l_ns, t_ns, launch_share and so on where they follow.
std::string launch_summary_json(const model::LaunchSummary& summary);

} // namespace deepjit::reports
