#include "fusers/emit/emitted_texts.hpp"
#include "fusers/emit/text_template.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace deepjit::emit {

namespace {

/// What the header declares a pointer to; types that C++ has no name for are void.
std::string_view cpp_type(graph::DType dtype) {
    switch (dtype) {
    case graph::DType::Float32:
        return "float";
    case graph::DType::Float64:
        return "double";
    case graph::DType::Int8:
        return "std::int8_t";
    case graph::DType::Bool:
    case graph::DType::UInt8:
        return "std::uint8_t";
    case graph::DType::Int32:
        return "std::int32_t";
    case graph::DType::Int64:
        return "std::int64_t";
    case graph::DType::Float16:
    case graph::DType::BFloat16:
        break;
    }
    return "void";
}

std::string launch_declaration(const std::vector<Operand>& operands) {
    std::vector<std::string> parameters;
    for (const Operand& operand : operands)
        parameters.push_back(fmt::format("{}{}* {}", operand.is_output ? "" : "const ",
                                         cpp_type(operand.dtype), operand.name));
    parameters.emplace_back("std::int64_t element_count");
    parameters.emplace_back("CUstream stream");
    return broken_list("const char* launch(", parameters, ")");
}

std::string operand_comments(const std::vector<Operand>& operands) {
    std::string text;
    for (const Operand& operand : operands)
        text += fmt::format("{}///  - `{}`: {}, {}, contiguous in device memory", text.empty() ? "" : "\n",
                            operand.name, operand.is_output ? "written" : "read", type_text(operand));
    return text;
}

std::string as_comment(std::string_view text) {
    std::string comment = "/// ";
    for (const char c : text) {
        comment += c;
        if (c == '\n') comment += "/// ";
    }
    return comment;
}

std::string buffer_rows(const std::vector<Operand>& operands) {
    std::string rows;
    for (const Operand& operand : operands) {
        const auto width = static_cast<std::int64_t>(graph::size_bytes(operand.dtype));
        rows += fmt::format("{0}        {{\"{1}\", {1}, {2}, {3}, {4}}},", rows.empty() ? "" : "\n",
                            operand.name, operand.element_count * width, width, operand.is_output);
    }
    return rows;
}

/// The line that lets an output be the very buffer of an input, where the kernel allows it.
std::string in_place_exception(const codegen::GeneratedKernel& kernel) {
    if (!kernel.operands_may_alias) return {};
    return "            const bool is_in_place = other.data == written.data && other.bytes == written.bytes;\n"
           "            if (is_in_place && !other.is_written) continue;";
}

std::string member_name(const codegen::GeneratedKernel& kernel, std::size_t entry) {
    return kernel.entries[entry].needs_vector_alignment ? "aligned_function" : "general_function";
}

/// "x" where both are the same, else a choice by alignment.
std::string chosen(const std::string& when_aligned, const std::string& otherwise) {
    return when_aligned == otherwise ? otherwise : fmt::format("aligned ? {} : {}", when_aligned, otherwise);
}

/// The entries that a launcher chooses between: the fastest, and the general one where that is another.
std::vector<std::size_t> used_entries(const codegen::GeneratedKernel& kernel) {
    const std::size_t general = general_entry(kernel);
    return general == 0 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, general};
}

std::string function_members(const codegen::GeneratedKernel& kernel) {
    std::string text;
    for (const std::size_t entry : used_entries(kernel))
        text += fmt::format("{}    CUfunction {};", text.empty() ? "" : "\n", member_name(kernel, entry));
    return text;
}

std::string entry_rows(const codegen::GeneratedKernel& kernel) {
    std::string rows;
    for (const std::size_t entry : used_entries(kernel))
        rows += fmt::format("{}    {{\"{}\", &LoadedKernel::{}}},", rows.empty() ? "" : "\n",
                            kernel.entries[entry].name, member_name(kernel, entry));
    return rows;
}

std::string misalignment(const Emission& emission, const std::vector<Operand>& operands) {
    if (used_entries(emission.kernel).size() == 1) return {};
    std::string terms;
    for (const AlignmentGroup& group : alignment_groups(operands)) {
        std::vector<std::string> addresses;
        for (const std::string& name : group.names)
            addresses.push_back(fmt::format("reinterpret_cast<std::uintptr_t>({})", name));
        terms +=
            fmt::format("{}(({}) & {}) == 0", terms.empty() ? "" : " &&\n                         ",
                        fmt::join(addresses, " |\n                           "), group.alignment_bytes - 1);
    }
    return fmt::format("    const bool aligned = {};", terms.empty() ? "true" : terms);
}

std::string launch_choice(const codegen::GeneratedKernel& kernel) {
    const std::size_t general = general_entry(kernel);
    const codegen::EntryPoint& fast = kernel.entries.front();
    const codegen::EntryPoint& any = kernel.entries[general];
    return fmt::format("    const CUfunction function = {};\n"
                       "    const unsigned int grid_blocks = {};\n"
                       "    const unsigned int block_threads = {};",
                       chosen("kernel->" + member_name(kernel, 0), "kernel->" + member_name(kernel, general)),
                       chosen(std::to_string(fast.grid_blocks), std::to_string(any.grid_blocks)),
                       chosen(std::to_string(fast.block_threads), std::to_string(any.block_threads)));
}

std::string argument_addresses(const std::vector<Operand>& operands) {
    std::vector<std::string> addresses;
    for (const Operand& operand : operands)
        addresses.push_back("&" + operand.name);
    return broken_list("    void* arguments[] = {", addresses, "};");
}

std::string byte_array(const std::string& name, std::string_view bytes) {
    constexpr std::size_t kPerLine = 20;
    std::string text = fmt::format("alignas(16) constexpr unsigned char {}[] = {{", name);
    text.reserve(text.size() + bytes.size() * 4);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i % kPerLine == 0) text += "\n    ";
        text += fmt::format("{},", static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
    }
    return text + "\n};\n\n";
}

} // namespace

std::string launch_call(const Emission& emission, const std::vector<std::string>& pointers,
                        std::string_view indent) {
    std::vector<std::string> arguments = pointers;
    arguments.push_back(emission.name + "::kElementCount");
    arguments.emplace_back("stream");
    return broken_list(fmt::format("{}const char* error = {}::launch(", indent, emission.name), arguments,
                       ");");
}

std::string launch_cast(const Operand& operand) {
    return fmt::format("reinterpret_cast<{}{}*>", operand.is_output ? "" : "const ", cpp_type(operand.dtype));
}

std::string cubin_file_name(const Emission& emission, const DeviceImage& image) {
    return fmt::format("{}.sm_{}.cubin", emission.name, image.compute_capability);
}

std::string ptx_file_name(const Emission& emission) {
    return fmt::format("{}.compute_{}.ptx", emission.name, emission.ptx_capability);
}

std::string launcher_header_text(const Emission& emission, const std::vector<Operand>& operands) {
    return fill_template(kLauncherHeaderTemplate,
                         {{"name", emission.name},
                          {"summary", summary_of(emission)},
                          {"element_count", fmt::format("{}", emission.kernel.element_count)},
                          {"operand_comments", operand_comments(operands)},
                          {"pointer_rules", as_comment(pointer_rules(emission, operands))},
                          {"launch_declaration", launch_declaration(operands)}});
}

std::string launcher_source_text(const Emission& emission, const std::vector<Operand>& operands) {
    return fill_template(kLauncherSourceTemplate,
                         {{"name", emission.name},
                          {"summary", summary_of(emission)},
                          {"launch_declaration", launch_declaration(operands)},
                          {"buffer_rows", buffer_rows(operands)},
                          {"in_place_exception", in_place_exception(emission.kernel)},
                          {"function_members", function_members(emission.kernel)},
                          {"entry_rows", entry_rows(emission.kernel)},
                          {"misalignment", misalignment(emission, operands)},
                          {"argument_addresses", argument_addresses(operands)},
                          {"launch_choice", launch_choice(emission.kernel)}});
}

std::string launcher_images_text(const Emission& emission) {
    std::string arrays = "// The compiled forms of the kernel, also in the files beside this one.\n\n";
    std::string table = "constexpr Image kImages[] = {\n";
    for (const DeviceImage& image : emission.images) {
        const std::string array = fmt::format("kCubinSm{}", image.compute_capability);
        arrays += byte_array(array, image.cubin);
        table += fmt::format("    {{{}, {}, false, {}}},\n", image.compute_capability / 10,
                             image.compute_capability % 10, array);
    }
    if (emission.ptx_capability != 0) {
        const std::string array = fmt::format("kPtxCompute{}", emission.ptx_capability);
        arrays += byte_array(array, emission.ptx + '\0');
        table += fmt::format("    {{{}, {}, true, {}}},\n", emission.ptx_capability / 10,
                             emission.ptx_capability % 10, array);
    }
    return arrays + table + "};\n";
}

} // namespace deepjit::emit
