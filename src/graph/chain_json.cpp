#include "src/base/hash.hpp"
#include "src/base/text.hpp"
#include "src/graph/chain_graph.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace deepjit::graph {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "deepjit chain";
constexpr int kVersion = 1;

constexpr std::array<std::pair<TensorRole, std::string_view>, 4> kRoles{
    {{TensorRole::Input, "input"},
     {TensorRole::Output, "output"},
     {TensorRole::Intermediate, "intermediate"},
     {TensorRole::Constant, "constant"}}};

std::string_view name_of_role(TensorRole role) {
    return kRoles[static_cast<std::size_t>(role)].second;
}

// --- writing ---------------------------------------------------------------------------------------------

/// JSON has no infinities and no NaN; they are written as strings.
Json number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// `{"key": value, "key": value}` with blanks, which nlohmann writes only with line breaks.
std::string one_line(const Json& object) {
    std::string out = "{";
    for (const auto& [key, value] : object.items()) {
        if (out.size() > 1) out += ", ";
        out += dump(Json(key)) + ": ";
        if (value.is_array()) {
            out += '[';
            for (std::size_t i = 0; i < value.size(); ++i)
                out += (i == 0 ? "" : ", ") + dump(value[i]);
            out += ']';
        } else if (value.is_object()) {
            out += one_line(value);
        } else {
            out += dump(value);
        }
    }
    return out + "}";
}

Json tensor_names(const ChainGraph& chain, const std::vector<TensorIndex>& indices) {
    Json names = Json::array();
    for (const TensorIndex index : indices)
        names.push_back(printable(chain.tensor(index).name));
    return names;
}

Json tensor_to_json(const Tensor& tensor) {
    Json json{{"name", printable(tensor.name)},
              {"role", name_of_role(tensor.role)},
              {"dtype", name_of(tensor.dtype)},
              {"shape", tensor.shape}};
    if (!tensor.strides.empty()) json["strides"] = tensor.strides;
    if (tensor.alignment_bytes != 0) json["alignment_bytes"] = tensor.alignment_bytes;
    if (tensor.role == TensorRole::Constant) {
        json["values"] = Json::array();
        for (const double value : tensor.values)
            json["values"].push_back(number(value));
    }
    return json;
}

Json argument_to_json(const OpenArgument& argument) {
    Json json{{"parameter", argument.parameter}};
    const auto add = [&](const char* key, const std::string& value) {
        if (!value.empty()) json[key] = printable(value);
    };
    add("type", argument.type);
    add("buffer", argument.buffer);
    add("access", argument.access);
    add("dtype", argument.dtype);
    if (argument.bytes != 0) json["bytes"] = argument.bytes;
    add("value", argument.value);
    return json;
}

/// What the op computes on the first line, where that comes from on the next ones.
std::string op_text(const ChainGraph& chain, const Op& op) {
    Json json{{"type", printable(op.type)},
              {"inputs", tensor_names(chain, op.inputs)},
              {"outputs", tensor_names(chain, op.outputs)}};
    if (!op.attributes.empty()) {
        json["attributes"] = Json::object();
        for (const auto& [name, value] : op.attributes)
            json["attributes"][printable(name)] = number(value);
    }
    std::string out = one_line(json);
    out.pop_back();
    if (!op.reason.empty()) out += ",\n     \"reason\": " + dump(Json(printable(op.reason)));
    if (!op.source.empty()) out += ",\n     \"source\": " + dump(Json(printable(op.source)));
    if (!op.arguments.empty()) {
        out += ",\n     \"arguments\": [";
        for (std::size_t i = 0; i < op.arguments.size(); ++i)
            out += (i == 0 ? "\n       " : ",\n       ") + one_line(argument_to_json(op.arguments[i]));
        out += "]";
    }
    if (!op.evidence.empty()) {
        out += ",\n     \"evidence\": [";
        for (std::size_t i = 0; i < op.evidence.size(); ++i) {
            if (i > 0) out += ",\n                  ";
            out += one_line(Json{{"witness", printable(op.evidence[i].witness)},
                                 {"detail", printable(op.evidence[i].detail)}});
        }
        out += "]";
    }
    return out + "}";
}

std::string line_of_names(const Json& names) {
    std::string out = "[";
    for (std::size_t i = 0; i < names.size(); ++i)
        out += (i == 0 ? "" : ", ") + dump(names[i]);
    return out + "]";
}

// --- reading ---------------------------------------------------------------------------------------------

/// Thrown inside this file only, and turned into a Diagnostic by from_json.
struct Misfit {
    std::string place;
    std::string message;
};

const Json& member(const Json& object, const std::string& key, const std::string& place) {
    if (!object.is_object()) throw Misfit{place, "must be an object"};
    const auto found = object.find(key);
    if (found == object.end()) throw Misfit{place, fmt::format("lacks \"{}\"", key)};
    return *found;
}

std::string text_of(const Json& json, const std::string& place) {
    if (!json.is_string()) throw Misfit{place, "must be a string"};
    return json.get<std::string>();
}

std::string optional_text(const Json& object, const std::string& key, const std::string& place) {
    return object.contains(key) ? text_of(object[key], place + "." + key) : std::string();
}

std::int64_t integer_of(const Json& json, const std::string& place) {
    if (!json.is_number_integer() ||
        (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{1} << 62))
        throw Misfit{place, "must be an integer below 2^62"};
    return json.get<std::int64_t>();
}

double number_of(const Json& json, const std::string& place) {
    if (json.is_number()) return json.get<double>();
    if (json == "inf") return std::numeric_limits<double>::infinity();
    if (json == "-inf") return -std::numeric_limits<double>::infinity();
    if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
    throw Misfit{place, R"(must be a number, "inf", "-inf" or "nan")"};
}

/// Calls `read(element, place)` for every element of an array.
template <class Read>
void for_each_element(const Json& array, const std::string& place, Read read) {
    if (!array.is_array()) throw Misfit{place, "must be an array"};
    for (std::size_t i = 0; i < array.size(); ++i)
        read(array[i], fmt::format("{}[{}]", place, i));
}

void refuse_unknown_keys(const Json& object, std::initializer_list<std::string_view> known,
                         const std::string& place) {
    for (const auto& [key, value] : object.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw Misfit{place, fmt::format("has the unknown key \"{}\"", printable(key))};
}

Tensor tensor_from_json(const Json& json, const std::string& place) {
    Tensor tensor;
    tensor.name = text_of(member(json, "name", place), place + ".name");
    refuse_unknown_keys(json, {"name", "role", "dtype", "shape", "strides", "alignment_bytes", "values"},
                        place);
    const std::string role = text_of(member(json, "role", place), place + ".role");
    const auto found =
        std::find_if(kRoles.begin(), kRoles.end(), [&](const auto& r) { return r.second == role; });
    if (found == kRoles.end())
        throw Misfit{place + ".role", "must be \"input\", \"output\", \"intermediate\" or \"constant\""};
    tensor.role = found->first;
    const std::string dtype = text_of(member(json, "dtype", place), place + ".dtype");
    const auto known = dtype_named(dtype);
    if (!known) throw Misfit{place + ".dtype", fmt::format("is the unknown dtype '{}'", printable(dtype))};
    tensor.dtype = *known;
    for_each_element(member(json, "shape", place), place + ".shape",
                     [&](const Json& e, const std::string& p) { tensor.shape.push_back(integer_of(e, p)); });
    if (json.contains("strides"))
        for_each_element(json["strides"], place + ".strides", [&](const Json& e, const std::string& p) {
            tensor.strides.push_back(integer_of(e, p));
        });
    if (json.contains("alignment_bytes"))
        tensor.alignment_bytes = integer_of(json["alignment_bytes"], place + ".alignment_bytes");
    if (json.contains("values"))
        for_each_element(json["values"], place + ".values", [&](const Json& e, const std::string& p) {
            tensor.values.push_back(number_of(e, p));
        });
    return tensor;
}

OpenArgument argument_from_json(const Json& json, const std::string& place) {
    OpenArgument argument;
    const std::int64_t parameter = integer_of(member(json, "parameter", place), place + ".parameter");
    if (parameter < 0 || parameter > std::numeric_limits<int>::max())
        throw Misfit{place + ".parameter", "must be a parameter's number, from 0"};
    argument.parameter = static_cast<int>(parameter);
    refuse_unknown_keys(json, {"parameter", "type", "buffer", "access", "dtype", "bytes", "value"}, place);
    argument.type = optional_text(json, "type", place);
    argument.buffer = optional_text(json, "buffer", place);
    argument.access = optional_text(json, "access", place);
    argument.dtype = optional_text(json, "dtype", place);
    if (json.contains("bytes")) argument.bytes = integer_of(json["bytes"], place + ".bytes");
    argument.value = optional_text(json, "value", place);
    return argument;
}

class ChainReader {
  public:
    ChainGraph read(const Json& json) {
        if (!json.is_object()) throw Misfit{"The file", "must be a JSON object"};
        if (text_of(member(json, "format", "The file"), "format") != kFormat)
            throw Misfit{"format", fmt::format("must be \"{}\"", kFormat)};
        if (integer_of(member(json, "version", "The file"), "version") != kVersion)
            throw Misfit{"version", fmt::format("must be {}", kVersion)};
        refuse_unknown_keys(json,
                            {"format", "version", "name", "rounding", "provenance", "frames_observed",
                             "inputs", "outputs", "tensors", "ops"},
                            "The file");
        chain_.name = text_of(member(json, "name", "The file"), "name");
        const std::string rounding = text_of(member(json, "rounding", "The file"), "rounding");
        if (rounding != "match" && rounding != "wide")
            throw Misfit{"rounding", "must be \"match\" or \"wide\""};
        chain_.rounding = rounding == "match" ? Rounding::Match : Rounding::Wide;
        chain_.provenance = optional_text(json, "provenance", "");
        if (json.contains("frames_observed"))
            chain_.frames_observed = integer_of(json["frames_observed"], "frames_observed");
        for_each_element(
            member(json, "tensors", "The file"), "tensors", [&](const Json& e, const std::string& p) {
                chain_.tensors.push_back(tensor_from_json(e, p));
                index_of_[chain_.tensors.back().name] = static_cast<TensorIndex>(chain_.tensors.size() - 1);
            });
        chain_.inputs = indices(member(json, "inputs", "The file"), "inputs");
        chain_.outputs = indices(member(json, "outputs", "The file"), "outputs");
        for_each_element(member(json, "ops", "The file"), "ops",
                         [&](const Json& e, const std::string& p) { chain_.ops.push_back(op(e, p)); });
        return std::move(chain_);
    }

  private:
    std::vector<TensorIndex> indices(const Json& names, const std::string& place) {
        std::vector<TensorIndex> out;
        for_each_element(names, place, [&](const Json& element, const std::string& where) {
            const std::string name = text_of(element, where);
            const auto found = index_of_.find(name);
            if (found == index_of_.end())
                throw Misfit{where, fmt::format("names the tensor '{}', which is not in \"tensors\"",
                                                elide_middle(printable(name), 80))};
            out.push_back(found->second);
        });
        return out;
    }

    Op op(const Json& json, const std::string& place) {
        Op op;
        op.type = text_of(member(json, "type", place), place + ".type");
        refuse_unknown_keys(
            json, {"type", "inputs", "outputs", "attributes", "reason", "source", "arguments", "evidence"},
            place);
        op.inputs = indices(member(json, "inputs", place), place + ".inputs");
        op.outputs = indices(member(json, "outputs", place), place + ".outputs");
        if (json.contains("attributes")) {
            if (!json["attributes"].is_object()) throw Misfit{place + ".attributes", "must be an object"};
            for (const auto& [key, value] : json["attributes"].items())
                op.attributes[key] = number_of(value, place + ".attributes." + printable(key));
        }
        op.reason = optional_text(json, "reason", place);
        op.source = optional_text(json, "source", place);
        if (json.contains("arguments"))
            for_each_element(json["arguments"], place + ".arguments",
                             [&](const Json& e, const std::string& p) {
                                 op.arguments.push_back(argument_from_json(e, p));
                             });
        if (json.contains("evidence"))
            for_each_element(json["evidence"], place + ".evidence", [&](const Json& e, const std::string& p) {
                op.evidence.push_back({text_of(member(e, "witness", p), p + ".witness"),
                                       text_of(member(e, "detail", p), p + ".detail")});
            });
        return op;
    }

    ChainGraph chain_;
    std::map<std::string, TensorIndex> index_of_;
};

} // namespace

std::string to_json(const ChainGraph& chain) {
    std::string out = "{\n";
    out += fmt::format("  \"format\": \"{}\",\n  \"version\": {},\n", kFormat, kVersion);
    out += "  \"name\": " + dump(Json(printable(chain.name))) + ",\n";
    if (!chain.provenance.empty())
        out += "  \"provenance\": " + dump(Json(printable(chain.provenance))) + ",\n";
    if (chain.frames_observed != 0) out += fmt::format("  \"frames_observed\": {},\n", chain.frames_observed);
    out += fmt::format("  \"rounding\": \"{}\",\n", chain.rounding == Rounding::Match ? "match" : "wide");
    out += "  \"inputs\": " + line_of_names(tensor_names(chain, chain.inputs)) + ",\n";
    out += "  \"outputs\": " + line_of_names(tensor_names(chain, chain.outputs)) + ",\n";
    out += "  \"tensors\": [";
    for (std::size_t i = 0; i < chain.tensors.size(); ++i)
        out += (i == 0 ? "\n    " : ",\n    ") + one_line(tensor_to_json(chain.tensors[i]));
    out += "\n  ],\n  \"ops\": [";
    for (std::size_t i = 0; i < chain.ops.size(); ++i)
        out += (i == 0 ? "\n    " : ",\n    ") + op_text(chain, chain.ops[i]);
    return out + "\n  ]\n}\n";
}

Result<ChainGraph> from_json(std::string_view text) {
    Json json;
    try {
        json = Json::parse(text);
    } catch (const Json::exception& error) {
        return failure("The chain file is not valid JSON.", printable(error.what()));
    }
    try {
        ChainGraph chain = ChainReader().read(json);
        DEEPJIT_CHECK(validate(chain));
        return chain;
    } catch (const Misfit& misfit) {
        return failure(fmt::format("{} {}.", misfit.place, misfit.message), "While reading a chain file.");
    }
}

std::string hash_of(const ChainGraph& chain) {
    ChainGraph bare = chain;
    bare.provenance.clear();
    bare.frames_observed = 0;
    for (Op& op : bare.ops) {
        op.source.clear();
        op.reason.clear();
        op.arguments.clear();
        op.evidence.clear();
    }
    return hash_hex(to_json(bare));
}

} // namespace deepjit::graph
