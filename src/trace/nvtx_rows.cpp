#include "src/trace/nvtx_rows.hpp"

namespace deepjit::trace {
namespace {

bool is_real(NvtxPayloadType type) {
    return type == NvtxPayloadType::Double || type == NvtxPayloadType::Float;
}

std::optional<std::int64_t> null_if_zero(std::int64_t id) {
    return id == 0 ? std::nullopt : std::optional(id);
}

std::optional<std::string> text_or_null(const Statement& row, int column) {
    return row.is_null(column) ? std::nullopt : std::optional(row.bytes(column));
}

std::optional<std::int64_t> integer_or_null(const Statement& row, int column) {
    return row.is_null(column) ? std::nullopt : std::optional(row.integer(column));
}

void read_row(const Statement& row, NvtxDomain& domain) {
    row.read(0, domain.domain_id);
    domain.name = text_or_null(row, 1);
    row.read(2, domain.start_ns);
    domain.end_ns = integer_or_null(row, 3);
    row.read(4, domain.process_id);
}

void read_row(const Statement& row, NvtxCategory& category) {
    row.read(0, category.domain_id);
    row.read(1, category.category);
    category.name = text_or_null(row, 2);
    row.read(3, category.process_id);
}

void read_row(const Statement& row, NvtxRange& range) {
    row.read(0, range.range_id);
    const std::int64_t kind = row.integer(1);
    const bool kind_is_known = kind >= 1 && kind <= static_cast<std::int64_t>(NvtxKind::Mark);
    range.kind = kind_is_known ? static_cast<NvtxKind>(kind) : NvtxKind::Mark;
    row.read(2, range.domain_id);
    range.name = text_or_null(row, 3);
    row.read(4, range.start_ns);
    range.end_ns = integer_or_null(row, 5);
    row.read(6, range.parent_range_id);
    row.read(7, range.level);
    row.read(8, range.category);
    if (!row.is_null(9)) range.color = static_cast<std::uint32_t>(row.integer(9));
    const std::int64_t type = row.integer(10);
    const bool type_is_known = type >= 0 && type <= static_cast<std::int64_t>(NvtxPayloadType::Float);
    range.payload_type = type_is_known ? static_cast<NvtxPayloadType>(type) : NvtxPayloadType::None;
    if (is_real(range.payload_type))
        range.payload_real = row.real(11);
    else
        row.read(11, range.payload_integer);
    row.read(12, range.thread_id);
    row.read(13, range.process_id);
}

void read_row(const Statement& row, NvtxOperator& op) {
    row.read(0, op.range_id);
    op.framework = row.bytes(1);
    op.operator_name = row.bytes(2);
    op.sequence = integer_or_null(row, 3);
    op.op_id = integer_or_null(row, 4);
    op.shapes_json = text_or_null(row, 5);
    op.input_op_ids_json = text_or_null(row, 6);
}

} // namespace

Result<void> NvtxRowWriter::prepare(const Database& database) {
    DEEPJIT_TRY(domain_, database.prepare("INSERT INTO nvtx_domain_entry (domain_id, process_id, name_id, "
                                          "start_ns, end_ns) VALUES (?,?,?,?,?)"));
    DEEPJIT_TRY(category_, database.prepare("INSERT OR REPLACE INTO nvtx_category_entry (process_id, "
                                            "domain_id, category, name_id) VALUES (?,?,?,?)"));
    DEEPJIT_TRY(range_,
                database.prepare("INSERT INTO nvtx_range_entry (range_id, process_id, thread_id, kind, "
                                 "domain_id, name_id, start_ns, end_ns, parent_range_id, level, category, "
                                 "color, payload_type, payload) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
    DEEPJIT_TRY(operator_,
                database.prepare("INSERT INTO nvtx_operator_entry (range_id, framework, operator_id, "
                                 "sequence, op_id, shapes, input_op_ids) VALUES (?,?,?,?,?,?,?)"));
    return {};
}

void NvtxRowWriter::release() {
    for (Statement* statement : {&domain_, &category_, &range_, &operator_})
        *statement = Statement();
}

Result<void> NvtxRowWriter::add(const NvtxDomain& domain, std::optional<std::int64_t> name_id) {
    return domain_.run(domain.domain_id, domain.process_id, name_id, domain.start_ns, domain.end_ns);
}

Result<void> NvtxRowWriter::add(const NvtxCategory& category, std::optional<std::int64_t> name_id) {
    return category_.run(category.process_id, category.domain_id, category.category, name_id);
}

Result<void> NvtxRowWriter::add(const NvtxRange& range, std::optional<std::int64_t> name_id) {
    const auto run = [&](const auto& payload) {
        return range_.run(range.range_id, range.process_id, range.thread_id, static_cast<int>(range.kind),
                          range.domain_id, name_id, range.start_ns, range.end_ns,
                          null_if_zero(range.parent_range_id), range.level, range.category,
                          range.color ? std::optional<std::int64_t>(*range.color) : std::nullopt,
                          static_cast<int>(range.payload_type), payload);
    };
    if (range.payload_type == NvtxPayloadType::None) return run(std::optional<std::int64_t>());
    return is_real(range.payload_type) ? run(range.payload_real) : run(range.payload_integer);
}

Result<void> NvtxRowWriter::add(const NvtxOperator& row, std::int64_t operator_id) {
    return operator_.run(row.range_id, std::string_view(row.framework), operator_id, row.sequence, row.op_id,
                         row.shapes_json, row.input_op_ids_json);
}

Result<std::vector<NvtxDomain>> read_nvtx_domains(const Database& database) {
    return read_all<NvtxDomain>(database,
                                "SELECT domain_id, s.value, start_ns, end_ns, process_id "
                                "FROM nvtx_domain_entry LEFT JOIN string_entry s ON s.string_id = name_id "
                                "ORDER BY domain_id",
                                read_row);
}

Result<std::vector<NvtxCategory>> read_nvtx_categories(const Database& database) {
    return read_all<NvtxCategory>(database,
                                  "SELECT domain_id, category, s.value, process_id FROM nvtx_category_entry "
                                  "LEFT JOIN string_entry s ON s.string_id = name_id "
                                  "ORDER BY process_id, domain_id, category",
                                  read_row);
}

Result<std::vector<NvtxRange>> read_nvtx_ranges(const Database& database) {
    return read_all<NvtxRange>(database,
                               "SELECT range_id, kind, domain_id, s.value, start_ns, end_ns, "
                               "parent_range_id, level, category, color, payload_type, payload, thread_id, "
                               "process_id FROM nvtx_range_entry "
                               "LEFT JOIN string_entry s ON s.string_id = name_id "
                               "ORDER BY start_ns, range_id",
                               read_row);
}

Result<std::vector<NvtxOperator>> read_nvtx_operators(const Database& database) {
    return read_all<NvtxOperator>(database,
                                  "SELECT range_id, framework, s.value, sequence, op_id, shapes, "
                                  "input_op_ids FROM nvtx_operator_entry "
                                  "JOIN string_entry s ON s.string_id = operator_id ORDER BY range_id",
                                  read_row);
}

} // namespace deepjit::trace
