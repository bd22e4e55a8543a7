#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <string>

namespace deepjit::reports {

/// The part of JSON Schema that the schemas of reports/schema use. Returns what is wrong, with its place.
class SchemaCheck {
  public:
    explicit SchemaCheck(const nlohmann::json& root) : root_(root) {}

    std::string check(const nlohmann::json& value, const nlohmann::json& schema,
                      const std::string& place) const {
        if (schema.contains("$ref")) {
            const std::string reference = schema["$ref"];
            return check(value, root_.at(nlohmann::json::json_pointer(reference.substr(1))), place);
        }
        if (schema.contains("anyOf")) {
            std::string first;
            for (const nlohmann::json& option : schema["anyOf"]) {
                const std::string wrong = check(value, option, place);
                if (wrong.empty()) return {};
                if (first.empty()) first = wrong;
            }
            return first;
        }
        if (schema.contains("const")) return value == schema["const"] ? "" : place + ": not the constant";
        if (schema.contains("enum")) {
            for (const nlohmann::json& option : schema["enum"])
                if (value == option) return {};
            return place + ": " + value.dump() + " is not in the enumeration";
        }
        if (schema.contains("type") && !has_type(value, schema["type"])) return place + ": wrong type";
        if (value.is_object()) return check_object(value, schema, place);
        for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
            const std::string wrong = check(value[i], schema["items"], place + "/" + std::to_string(i));
            if (!wrong.empty()) return wrong;
        }
        return {};
    }

  private:
    std::string check_object(const nlohmann::json& value, const nlohmann::json& schema,
                             const std::string& place) const {
        for (const nlohmann::json& key : schema["required"])
            if (!value.contains(key.get<std::string>())) return place + ": " + key.dump() + " is missing";
        for (const auto& [key, member] : value.items()) {
            if (!schema["properties"].contains(key)) return place + ": '" + key + "' is not documented";
            const std::string wrong = check(member, schema["properties"][key], place + "/" + key);
            if (!wrong.empty()) return wrong;
        }
        return {};
    }

    static bool has_type(const nlohmann::json& value, const nlohmann::json& type) {
        if (type.is_array())
            return std::any_of(type.begin(), type.end(),
                               [&](const nlohmann::json& one) { return has_type(value, one); });
        if (type == "number") return value.is_number();
        if (type == "integer") return value.is_number_integer();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_boolean();
        if (type == "array") return value.is_array();
        if (type == "object") return value.is_object();
        return type == "null" && value.is_null();
    }

    const nlohmann::json& root_;
};

/// What is wrong with a JSON text by a schema of reports/schema, with its place; empty: nothing.
inline std::string wrong_by_schema(const std::string& schema_file, const std::string& text) {
    std::ifstream file(DEEPJIT_SOURCE_DIR "/reports/schema/" + schema_file);
    const nlohmann::json schema = nlohmann::json::parse(file);
    return SchemaCheck(schema).check(nlohmann::json::parse(text), schema, "");
}

} // namespace deepjit::reports
