#pragma once

#include "src/model/report.hpp"

#include <string>

namespace deepjit::reports {

/// Of reports/schema/advise.schema.json.
inline constexpr int kAdviseSchemaVersion = 1;

/// The whole report for programs. Bytes that are no UTF-8 become \xNN.
std::string advise_json(const model::Report& report);

} // namespace deepjit::reports
