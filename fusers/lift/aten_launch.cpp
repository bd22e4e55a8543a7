#include "fusers/lift/aten_launch.hpp"

#include "fusers/lift/template_arguments.hpp"
#include "src/base/text.hpp"

#include <fmt/format.h>

#include <cstring>

namespace deepjit::lift {
namespace {

using graph::DType;

/// c10::ScalarType, which is part of PyTorch's serialised formats and does not change.
Result<DType> dtype_of_scalar_type(std::uint8_t code) {
    switch (code) {
    case 5:
        return DType::Float16;
    case 6:
        return DType::Float32;
    case 15:
        return DType::BFloat16;
    default:
        return failure(fmt::format("It casts from or to the c10 scalar type {}.", code));
    }
}

Result<std::string> parameter_bytes(const trace::Arguments& arguments, std::size_t number) {
    if (number >= arguments.parameters.size())
        return failure(fmt::format("It has {} parameters; parameter {} is missing.",
                                   arguments.parameters.size(), number));
    const auto& parameter = arguments.parameters[number];
    if (std::size_t{parameter.byte_offset} + parameter.size_bytes > arguments.bytes.size())
        return failure(fmt::format("Its parameter {} lies beyond the {} recorded bytes.", number,
                                   arguments.bytes.size()));
    return arguments.bytes.substr(parameter.byte_offset, parameter.size_bytes);
}

Result<std::vector<std::uint64_t>> pointers_of(const std::string& bytes, std::size_t count) {
    if (bytes.size() != count * sizeof(std::uint64_t))
        return failure(fmt::format("Its array of pointers has {} bytes; its functor needs {} pointers.",
                                   bytes.size(), count));
    std::vector<std::uint64_t> pointers(count);
    std::memcpy(pointers.data(), bytes.data(), bytes.size());
    for (const std::uint64_t pointer : pointers)
        if (pointer == 0) return failure("One of its pointers is null.");
    return pointers;
}

/// LoadWithCast<N> and StoreWithCast<N> are {int8 types[N]; uint32 sizes[N]}.
Result<std::vector<DType>> cast_dtypes(const std::string& bytes, std::size_t count) {
    const std::size_t sizes_at = (count + 3) / 4 * 4;
    if (bytes.size() != sizes_at + count * sizeof(std::uint32_t))
        return failure(
            fmt::format("Its cast table has {} bytes, which does not fit {} operands.", bytes.size(), count));
    std::vector<DType> dtypes;
    for (std::size_t i = 0; i < count; ++i) {
        DEEPJIT_TRY(const DType dtype, dtype_of_scalar_type(static_cast<std::uint8_t>(bytes[i])));
        std::uint32_t size = 0;
        std::memcpy(&size, bytes.data() + sizes_at + i * sizeof(size), sizeof(size));
        if (size != graph::size_bytes(dtype))
            return failure(fmt::format("Its cast table gives {} the size {}.", graph::name_of(dtype), size));
        dtypes.push_back(dtype);
    }
    return dtypes;
}

/// unrolled_elementwise_kernel<functor, array, 4, input offsets, output offsets, loader, storer>: dtypes in
/// memory.
Result<void> apply_loader_and_storer(const std::vector<std::string>& types, const trace::Arguments& arguments,
                                     AtenLaunch& parsed) {
    std::size_t offset_calculators = 0;
    std::string loader;
    std::string storer;
    for (const auto& type : types) {
        if (type.rfind("TrivialOffsetCalculator", 0) == 0) ++offset_calculators;
        if (type.find("LoadWith") != std::string::npos) loader = type;
        if (type.find("StoreWith") != std::string::npos) storer = type;
    }
    if (offset_calculators != 2) return failure("It reads or writes strided tensors.");
    if (loader.find("LoadWithCast") != std::string::npos) {
        DEEPJIT_TRY(const std::string bytes, parameter_bytes(arguments, 5));
        DEEPJIT_TRY(parsed.stored.inputs, cast_dtypes(bytes, parsed.signature.inputs.size()));
    } else if (loader.find("LoadWithoutCast") == std::string::npos) {
        return failure("How it loads its operands cannot be told from its name.");
    }
    if (storer.find("StoreWithCast") != std::string::npos) {
        DEEPJIT_TRY(const std::string bytes, parameter_bytes(arguments, 6));
        DEEPJIT_TRY(const auto dtypes, cast_dtypes(bytes, 1));
        parsed.stored.output = dtypes[0];
    } else if (storer.find("StoreWithoutCast") == std::string::npos) {
        return failure("How it stores its result cannot be told from its name.");
    }
    return {};
}

} // namespace

Result<AtenLaunch> parse_aten_launch(const ObservedLaunch& launch) {
    const std::string base = base_name_of_function(launch.kernel_name);
    const bool vectorised = base == "vectorized_elementwise_kernel";
    if (!vectorised && base != "unrolled_elementwise_kernel")
        return failure(fmt::format("No lifter knows the kernel '{}'.", elide_middle(printable(base), 80)));
    const auto types = template_arguments(launch.kernel_name, base);
    const std::size_t functor_at = vectorised ? 1 : 0;
    if (types.size() <= functor_at) return failure("Its template arguments cannot be read.");
    if (launch.arguments.parameters.empty()) return failure("Its arguments were not recorded.");

    AtenLaunch parsed;
    DEEPJIT_TRY(const std::string count, parameter_bytes(launch.arguments, 0));
    std::int32_t elements = 0;
    if (count.size() != sizeof(elements)) return failure("Its first parameter is no 4-byte element count.");
    std::memcpy(&elements, count.data(), sizeof(elements));
    if (elements <= 0) return failure(fmt::format("Its element count reads as {}.", elements));
    parsed.element_count = elements;
    parsed.functor.name = without_aten_namespaces(types[functor_at]);
    DEEPJIT_TRY(parsed.functor.bytes, parameter_bytes(launch.arguments, 1));
    DEEPJIT_TRY(parsed.signature, signature_of(parsed.functor));
    parsed.stored = parsed.signature;
    if (!vectorised) DEEPJIT_CHECK(apply_loader_and_storer(types, launch.arguments, parsed));
    DEEPJIT_TRY(const std::string array, parameter_bytes(launch.arguments, 2));
    DEEPJIT_TRY(parsed.inputs, pointers_of(array, parsed.signature.inputs.size() + 1));
    parsed.output = parsed.inputs.front();
    parsed.inputs.erase(parsed.inputs.begin());
    return parsed;
}

} // namespace deepjit::lift
