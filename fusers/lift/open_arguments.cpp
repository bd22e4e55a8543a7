#include "fusers/lift/open_arguments.hpp"

#include "src/model/kernel_signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace deepjit::lift {
namespace {

using graph::DType;

std::optional<DType> dtype_of(std::string_view type) {
    if (type == "float") return DType::Float32;
    if (type == "double") return DType::Float64;
    if (type == "__half" || type == "c10::Half") return DType::Float16;
    if (type == "__nv_bfloat16" || type == "c10::BFloat16") return DType::BFloat16;
    if (type == "bool") return DType::Bool;
    if (type == "signed char") return DType::Int8;
    if (type == "unsigned char") return DType::UInt8;
    if (type == "int") return DType::Int32;
    if (type == "long" || type == "long long") return DType::Int64;
    return std::nullopt;
}

std::string_view name_of(model::Access access) {
    switch (access) {
    case model::Access::Read:
        return "read";
    case model::Access::Write:
        return "write";
    case model::Access::ReadWrite:
        return "read and write";
    case model::Access::Unknown:
        break;
    }
    return "unknown";
}

template <class Number>
std::string number_text(const std::string& bytes) {
    Number number{};
    std::memcpy(&number, bytes.data(), sizeof number);
    return fmt::format("{}", number);
}

/// The number that the bytes are by the type's name, else the bytes.
std::string value_text(std::string_view type, const std::string& bytes) {
    if (type == "float" && bytes.size() == 4) return number_text<float>(bytes);
    if (type == "double" && bytes.size() == 8) return number_text<double>(bytes);
    if (type == "int" && bytes.size() == 4) return number_text<std::int32_t>(bytes);
    if (type == "unsigned int" && bytes.size() == 4) return number_text<std::uint32_t>(bytes);
    if ((type == "long" || type == "long long") && bytes.size() == 8) return number_text<std::int64_t>(bytes);
    std::string text = "0x";
    for (const char byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

KnownArgument pointer_argument(const model::BufferUse& use, std::string_view type) {
    KnownArgument argument;
    argument.use = &use;
    argument.shown.buffer = fmt::format("buffer_{:x}", use.address);
    argument.shown.access = name_of(use.access);
    argument.shown.bytes = static_cast<std::int64_t>(use.footprint_bytes);
    if (model::is_pointer_type(type)) argument.dtype = dtype_of(model::pointee_type(type));
    if (argument.dtype) argument.shown.dtype = graph::name_of(*argument.dtype);
    return argument;
}

} // namespace

std::vector<KnownArgument> known_arguments(const ObservedLaunch& launch) {
    constexpr std::size_t kMostValueBytes = 64; // of a by-value struct without a pointer
    const model::KernelSignature signature = model::parse_kernel_signature(launch.kernel_name);
    const auto& parameters = launch.arguments.parameters;
    const bool is_typed = signature.has_parameters && signature.parameters.size() == parameters.size();
    std::vector<KnownArgument> known;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const trace::Parameter& parameter = parameters[i];
        const std::string_view type = is_typed ? signature.parameters[i] : std::string_view{};
        const std::size_t first = known.size();
        for (const model::BufferUse& use : launch.buffers)
            if (use.argument_offset >= parameter.byte_offset &&
                use.argument_offset - parameter.byte_offset < parameter.size_bytes)
                known.push_back(pointer_argument(use, type));
        const bool is_recorded =
            std::size_t{parameter.byte_offset} + parameter.size_bytes <= launch.arguments.bytes.size();
        if (known.size() == first) {
            KnownArgument value;
            if (is_recorded && parameter.size_bytes <= kMostValueBytes)
                value.shown.value = value_text(
                    type, launch.arguments.bytes.substr(parameter.byte_offset, parameter.size_bytes));
            known.push_back(std::move(value));
        }
        for (std::size_t k = first; k < known.size(); ++k) {
            known[k].shown.parameter = static_cast<int>(i);
            known[k].shown.type = type;
        }
    }
    return known;
}

} // namespace deepjit::lift
