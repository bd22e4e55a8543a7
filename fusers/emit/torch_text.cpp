#include "fusers/emit/emitted_texts.hpp"
#include "fusers/emit/text_template.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deepjit::emit {

namespace {

std::string_view torch_type(graph::DType dtype) {
    switch (dtype) {
    case graph::DType::Float32:
        return "torch.float32";
    case graph::DType::Float16:
        return "torch.float16";
    case graph::DType::BFloat16:
        return "torch.bfloat16";
    case graph::DType::Float64:
        return "torch.float64";
    case graph::DType::Int8:
        return "torch.int8";
    case graph::DType::UInt8:
        return "torch.uint8";
    case graph::DType::Int32:
        return "torch.int32";
    case graph::DType::Int64:
        return "torch.int64";
    case graph::DType::Bool:
        break;
    }
    return "torch.bool";
}

/// "(2, 3)", "(5,)", "()"
std::string tuple_text(const std::vector<std::int64_t>& shape) {
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string input_table(const std::vector<Operand>& inputs) {
    std::string text;
    for (const Operand& input : inputs)
        text += fmt::format("{}    (\"{}\", {}, {}),", text.empty() ? "" : "\n", input.name,
                            torch_type(input.dtype), tuple_text(input.shape));
    return text;
}

std::string entries(const codegen::GeneratedKernel& kernel) {
    std::string text = "_ENTRIES = (\n";
    for (const codegen::EntryPoint& entry : kernel.entries)
        text += fmt::format("    (b\"{}\", {}, {}),\n", entry.name, entry.grid_blocks, entry.block_threads);
    return text + ")";
}

/// The conditions under which no input needs a second look.
std::string fast_checks(const std::vector<Operand>& inputs) {
    std::string text;
    const auto add = [&](const std::string& condition) {
        text += fmt::format("{}        and {}", text.empty() ? "" : "\n", condition);
    };
    std::vector<std::string> gradients;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = inputs[i].name;
        if (i > 0) add(fmt::format("{}.get_device() == device", name));
        add(fmt::format("{}.dtype is {} and {}.shape == {}", name, torch_type(inputs[i].dtype), name,
                        tuple_text(inputs[i].shape)));
        add(fmt::format("{0}.is_contiguous() and not {0}.is_neg()", name));
        gradients.push_back(name + ".requires_grad");
    }
    add(fmt::format("not (({}) and _is_grad_enabled())", fmt::join(gradients, " or ")));
    return text;
}

std::string output_allocations(const std::vector<Operand>& operands) {
    const std::vector<Operand> inputs = inputs_of(operands);
    std::string text;
    for (const Operand& output : outputs_of(operands)) {
        const Operand* like = nullptr;
        for (const Operand& input : inputs)
            if (like == nullptr && input.dtype == output.dtype && input.shape == output.shape) like = &input;
        const std::string made = like != nullptr ? fmt::format("torch.empty_like({})", like->name)
                                                 : fmt::format("torch.empty({}, dtype={}, device={}.device)",
                                                               tuple_text(output.shape),
                                                               torch_type(output.dtype), inputs.front().name);
        text += fmt::format("    {} = {}\n", output.name, made);
    }
    text.pop_back();
    return text;
}

std::string address_assignments(const std::vector<Operand>& operands) {
    std::string text;
    for (std::size_t i = 0; i < operands.size(); ++i)
        text += fmt::format("{}    addresses[{}] = at_{} = {}.data_ptr()", i == 0 ? "" : "\n", i,
                            operands[i].name, operands[i].name);
    return text;
}

std::string call_choice(const codegen::GeneratedKernel& kernel, const std::vector<Operand>& operands) {
    const std::size_t general = general_entry(kernel);
    if (general == 0) return "    call = launcher.calls[0]";
    std::vector<std::string> conditions;
    for (const AlignmentGroup& group : alignment_groups(operands)) {
        std::vector<std::string> addresses;
        for (const std::string& name : group.names)
            addresses.push_back("at_" + name);
        conditions.push_back(
            fmt::format("({}) & {} == 0", fmt::join(addresses, " | "), group.alignment_bytes - 1));
    }
    return fmt::format("    call = launcher.calls[0 if {} else {}]", fmt::join(conditions, " and "), general);
}

std::string record_streams(const std::vector<Operand>& inputs) {
    std::string text;
    for (const Operand& input : inputs)
        text += fmt::format("{}        {}.record_stream(side_stream)", text.empty() ? "" : "\n", input.name);
    return text;
}

std::string plain_checks(const std::vector<Operand>& inputs) {
    std::vector<std::string> checks;
    for (const Operand& input : inputs)
        checks.push_back(fmt::format("        or type({}) not in _PLAIN_TENSORS", input.name));
    return fmt::format("{}", fmt::join(checks, "\n"));
}

std::string refusals(const std::vector<Operand>& inputs) {
    std::vector<std::string> gradients;
    for (const Operand& input : inputs)
        gradients.push_back(input.name + ".requires_grad");
    return fmt::format("        if not all(isinstance(tensor, torch.Tensor) for tensor in ({0}{2})) or (\n"
                       "            _is_grad_enabled() and ({1})\n"
                       "        ):\n"
                       "            _checked({0})  # raises",
                       names_joined(inputs), fmt::join(gradients, " or "), inputs.size() == 1 ? "," : "");
}

std::string fake_results(const std::vector<Operand>& operands) {
    const std::string first = inputs_of(operands).front().name;
    std::vector<std::string> results;
    for (const Operand& output : outputs_of(operands))
        results.push_back(fmt::format("{}.new_empty({}, dtype={})", first, tuple_text(output.shape),
                                      torch_type(output.dtype)));
    return fmt::format("{}", fmt::join(results, ", "));
}

std::string schema(const Emission& emission, const std::vector<Operand>& operands) {
    std::vector<std::string> inputs;
    for (const Operand& input : inputs_of(operands))
        inputs.push_back("Tensor " + input.name);
    const std::size_t outputs = outputs_of(operands).size();
    const std::vector<std::string> results(outputs, "Tensor");
    return outputs == 1 ? fmt::format("{}({}) -> Tensor", emission.name, fmt::join(inputs, ", "))
                        : fmt::format("{}({}) -> ({})", emission.name, fmt::join(inputs, ", "),
                                      fmt::join(results, ", "));
}

std::string operand_docs(const std::vector<Operand>& operands) {
    std::string text;
    for (const Operand& operand : operands)
        text += fmt::format("{}    {:<12} {}{}", text.empty() ? "" : "\n", operand.name, type_text(operand),
                            operand.is_output ? ", returned" : "");
    return text;
}

std::string cubin_table(const Emission& emission) {
    std::vector<std::string> items;
    for (const DeviceImage& image : emission.images)
        items.push_back(
            fmt::format("{}: \"{}\"", image.compute_capability, cubin_file_name(emission, image)));
    return fmt::format("{}", fmt::join(items, ", "));
}

} // namespace

std::string torch_module_text(const Emission& emission, const std::vector<Operand>& operands) {
    const std::vector<Operand> inputs = inputs_of(operands);
    const std::string input_names = names_joined(inputs);
    return broken_python(fill_template(
        kTorchModuleTemplate,
        {{"name", emission.name},
         {"summary", summary_of(emission)},
         {"call_example",
          fmt::format("{} = {}({})", names_joined(outputs_of(operands)), emission.name, input_names)},
         {"operand_docs", operand_docs(operands)},
         {"chain_hash", emission.kernel.chain_hash},
         {"cubins", cubin_table(emission)},
         {"ptx", emission.ptx_capability == 0
                     ? std::string()
                     : fmt::format("{}: \"{}\"", emission.ptx_capability, ptx_file_name(emission))},
         {"entries", entries(emission.kernel)},
         {"input_table", input_table(inputs)},
         {"parameter_count", fmt::format("{}", operands.size())},
         {"inputs", input_names},
         {"inputs_tuple", inputs.size() == 1 ? input_names + "," : input_names},
         {"first_input", inputs.front().name},
         {"fast_checks", fast_checks(inputs)},
         {"output_allocations", output_allocations(operands)},
         {"address_assignments", address_assignments(operands)},
         {"call_choice", call_choice(emission.kernel, operands)},
         {"record_streams", record_streams(inputs)},
         {"results", names_joined(outputs_of(operands))},
         {"refusals", refusals(inputs)},
         {"plain_checks", plain_checks(inputs)},
         {"fake_results", fake_results(operands)},
         {"schema", schema(emission, operands)}}));
}

} // namespace deepjit::emit
