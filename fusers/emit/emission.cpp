#include "fusers/emit/emission.hpp"

#include "fusers/emit/emitted_texts.hpp"
#include "fusers/emit/operands.hpp"
#include "fusers/emit/text_template.hpp"

#include <fmt/format.h>

namespace deepjit::emit {

Result<std::vector<EmittedFile>> emitted_files(const Emission& emission) {
    DEEPJIT_TRY(const auto operands, operands_of(emission));
    if (inputs_of(operands).empty() || outputs_of(operands).empty())
        return failure(fmt::format("chain '{}' has no inputs or no outputs, so there is nothing to call",
                                   emission.chain.name));
    DEEPJIT_TRY(auto example, example_text(emission, operands));

    const std::string& name = emission.name;
    std::vector<EmittedFile> files = {
        {name + ".cu", emission.kernel.source},
        {name + ".hpp", launcher_header_text(emission, operands)},
        {name + ".cpp", launcher_source_text(emission, operands)},
        {name + "_images.inc", launcher_images_text(emission)},
        {"example.cpp", std::move(example)},
        {"CMakeLists.txt", fill_template(kCMakeListsTemplate, {{"name", name}})},
        {"torch/" + name + ".py", torch_module_text(emission, operands)},
        {"chain.json", graph::to_json(emission.chain)},
        {"verify.json", verify::to_json(emission.verification)},
        {"README.md", readme_text(emission, operands)},
    };
    for (const DeviceImage& image : emission.images)
        files.push_back({cubin_file_name(emission, image), image.cubin});
    if (emission.ptx_capability != 0) files.push_back({ptx_file_name(emission), emission.ptx});
    if (emission.benchmark.measured) files.push_back({"bench.json", verify::to_json(emission.benchmark)});
    return files;
}

std::vector<EmittedFile> unfinished_files(const graph::ChainGraph& chain) {
    return {{"chain.json", graph::to_json(chain)}};
}

} // namespace deepjit::emit
