#include "src/ingest/operator_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace deepjit::ingest {
namespace {

/// Takes what it recognises from the front of a text.
class Cursor {
  public:
    explicit Cursor(std::string_view rest) : rest_(rest) {}

    bool at_end() const { return rest_.empty(); }
    bool take(std::string_view expected) {
        if (!rest_.starts_with(expected)) return false;
        rest_.remove_prefix(expected.size());
        return true;
    }
    std::optional<std::int64_t> take_number() {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc()) return std::nullopt;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }
    /// "[ITEM, ITEM, ...]" as a JSON array; `take_item` appends an item's JSON or returns false.
    template <class TakeItem>
    bool take_list(std::string& json, TakeItem take_item) {
        if (!take("[")) return false;
        json += '[';
        for (bool first = true; !take("]"); first = false) {
            if (!first) {
                if (!take(", ")) return false;
                json += ',';
            }
            if (!take_item(json)) return false;
        }
        json += ']';
        return true;
    }

  private:
    std::string_view rest_;
};

bool take_number(Cursor& cursor, std::string& json) {
    const auto number = cursor.take_number();
    if (number) json += std::to_string(*number);
    return number.has_value();
}

bool take_shapes(Cursor& cursor, std::string& json) {
    return cursor.take_list(json, [&](std::string& shapes) {
        return cursor.take_list(shapes, [&](std::string& shape) { return take_number(cursor, shape); });
    });
}

/// "[(12,0), (13,1)]"
bool take_input_ids(Cursor& cursor, std::string& json) {
    return cursor.take_list(json, [&](std::string& pairs) {
        pairs += '[';
        if (!cursor.take("(") || !take_number(cursor, pairs) || !cursor.take(",")) return false;
        pairs += ',';
        if (!take_number(cursor, pairs) || !cursor.take(")")) return false;
        pairs += ']';
        return true;
    });
}

constexpr std::string_view kSequence = ", seq = ";
constexpr std::string_view kOpId = ", op_id = ";
constexpr std::string_view kSizes = ", sizes = ";
constexpr std::string_view kInputs = ", input_op_ids = ";

/// Everything that follows an operator's name, which must be nothing else.
std::optional<OperatorFacts> parse_fields(std::string_view text) {
    OperatorFacts facts;
    Cursor cursor(text);
    if (cursor.take(kSequence) && !(facts.sequence = cursor.take_number())) return std::nullopt;
    if (cursor.take(kOpId) && !(facts.op_id = cursor.take_number())) return std::nullopt;
    if (cursor.take(kSizes) && !take_shapes(cursor, facts.shapes_json.emplace())) return std::nullopt;
    if (cursor.take(kInputs) && !take_input_ids(cursor, facts.input_op_ids_json.emplace()))
        return std::nullopt;
    return cursor.at_end() ? std::optional(std::move(facts)) : std::nullopt;
}

bool starts_a_field(std::string_view text) {
    static constexpr std::array keys = {kSequence, kOpId, kSizes, kInputs};
    return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return text.starts_with(key); });
}

std::optional<OperatorFacts> pytorch_operator(std::string_view name) {
    // The name of a record_function range may itself hold ", seq = ": the fields are what reaches the end.
    for (std::size_t at = name.find(", "); at != std::string_view::npos; at = name.find(", ", at + 1)) {
        if (at == 0 || !starts_a_field(name.substr(at))) continue;
        auto facts = parse_fields(name.substr(at));
        if (!facts) continue;
        facts->framework = "PyTorch";
        facts->operator_name = name.substr(0, at);
        return facts;
    }
    static constexpr std::string_view prefix = "aten::";
    const bool is_identifier = name.starts_with(prefix) && name.size() > prefix.size() &&
                               std::all_of(name.begin() + prefix.size(), name.end(), [](char c) {
                                   return c == '_' || c == '.' || (c >= '0' && c <= '9') ||
                                          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                               });
    if (!is_identifier) return std::nullopt;
    OperatorFacts facts;
    facts.framework = "PyTorch";
    facts.operator_name = name;
    return facts;
}

/// A call of TensorRT's own, such as ExecutionContext::enqueueV3.
bool is_call(std::string_view name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const std::size_t separator = name.find("::");
    if (separator == 0 || separator == std::string_view::npos) return false;
    const std::string_view scope = name.substr(0, separator);
    const std::string_view function = name.substr(separator + 2);
    return !function.empty() && std::all_of(scope.begin(), scope.end(), is_letter) &&
           is_letter(function[0]) && std::all_of(function.begin(), function.end(), [&](char c) {
               return is_letter(c) || (c >= '0' && c <= '9');
           });
}

} // namespace

std::optional<OperatorFacts> operator_of_range(std::optional<std::string_view> domain,
                                               std::string_view name) {
    if (!domain) return pytorch_operator(name);
    if (*domain != "TensorRT" || name.empty() || is_call(name)) return std::nullopt;
    OperatorFacts facts;
    facts.framework = "TensorRT";
    facts.operator_name = name;
    return facts;
}

} // namespace deepjit::ingest
