#include "analyzers/accesses.hpp"

#include "src/model/kernel_signature.hpp"

#include <algorithm>
#include <cstring>

namespace deepjit::analyzers {
namespace {

using model::Access;
using model::BufferUse;

std::optional<std::uint64_t> word_at(const std::string& bytes, std::size_t offset) {
    std::uint64_t word = 0;
    if (offset + sizeof word > bytes.size()) return std::nullopt;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
}

std::optional<std::int64_t> element_count_of(const trace::Arguments& arguments) {
    if (arguments.parameters.empty() || arguments.parameters[0].size_bytes != sizeof(std::int32_t))
        return std::nullopt;
    std::int32_t count = 0;
    if (arguments.parameters[0].byte_offset + sizeof count > arguments.bytes.size()) return std::nullopt;
    std::memcpy(&count, arguments.bytes.data() + arguments.parameters[0].byte_offset, sizeof count);
    return count;
}

/// Pointers in one array, output first: at::native's vectorized and unrolled kernels.
std::vector<BufferUse> aten_array_pointers(const model::AtenElementwise& aten,
                                           const trace::Arguments& arguments) {
    std::vector<BufferUse> uses;
    const trace::Parameter array = arguments.parameters[2];
    const std::optional<std::int64_t> elements = element_count_of(arguments);
    for (std::uint32_t i = 0; i < aten.pointer_count; ++i) {
        BufferUse use;
        use.argument_offset = array.byte_offset + i * static_cast<std::uint32_t>(sizeof(std::uint64_t));
        use.address = word_at(arguments.bytes, use.argument_offset).value_or(0);
        if (use.address == 0) continue;
        use.access = i == 0 ? Access::Write : Access::Read;
        use.access_witness = "ATen argument order";
        const bool contiguous = aten.layout == model::AtenLayout::Vectorized;
        if (contiguous && elements && i < aten.element_types.size())
            use.footprint_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *elements)) *
                                  model::size_of_type(aten.element_types[i]).value_or(0);
        uses.push_back(use);
    }
    return uses;
}

} // namespace

AllocationIndex::AllocationIndex(const std::vector<trace::Allocation>& allocations) {
    for (const trace::Allocation& allocation : allocations)
        by_process_[allocation.process_id].push_back({&allocation, 0});
    for (auto& [process, entries] : by_process_) {
        std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
            return a.allocation->address < b.allocation->address;
        });
        std::uint64_t highest_end = 0;
        for (Entry& entry : entries) {
            highest_end = std::max(highest_end, entry.allocation->address + entry.allocation->bytes);
            entry.highest_end = highest_end;
        }
    }
}

const trace::Allocation* AllocationIndex::find(std::uint32_t process_id, std::uint64_t address,
                                               std::int64_t time_ns) const {
    const auto process = by_process_.find(process_id);
    if (process == by_process_.end()) return nullptr;
    const std::vector<Entry>& entries = process->second;
    auto entry = std::upper_bound(
        entries.begin(), entries.end(), address,
        [](std::uint64_t wanted, const Entry& candidate) { return wanted < candidate.allocation->address; });
    while (entry != entries.begin()) {
        --entry;
        if (entry->highest_end <= address) return nullptr;
        const trace::Allocation& allocation = *entry->allocation;
        const bool live =
            allocation.start_ns <= time_ns && (!allocation.end_ns || time_ns < *allocation.end_ns);
        if (live && address - allocation.address < allocation.bytes) return &allocation;
    }
    return nullptr;
}

Accesses::Accesses(const model::TraceData& trace) : trace_(trace), allocations_(trace.allocations) {
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (const trace::Kernel& kernel : trace.kernels) {
        const trace::Arguments* arguments = trace.arguments_of(kernel);
        if (arguments == nullptr || !seen.insert({kernel.config_id, kernel.arguments_id}).second) continue;
        for (const BufferUse& use : pointers_of(kernel, *arguments)) {
            const trace::Allocation* allocation = allocation_at(kernel, use.address);
            if (allocation != nullptr && allocation->address != use.address)
                pointed_into_.insert(allocation->allocation_id);
        }
    }
}

const trace::Allocation* Accesses::allocation_at(const trace::Kernel& kernel, std::uint64_t address) const {
    // Memory may be freed before the kernel runs, in the stream's order, but not before it is launched.
    const trace::HostCall* call = trace_.call_of(kernel);
    return allocations_.find(kernel.process_id, address, call != nullptr ? call->start_ns : kernel.start_ns);
}

void Accesses::add_words(std::vector<BufferUse>& uses, const trace::Kernel& kernel,
                         const trace::Arguments& arguments, trace::Parameter parameter,
                         std::string_view witness) const {
    const std::uint32_t end = parameter.byte_offset + parameter.size_bytes;
    for (std::uint32_t offset = (parameter.byte_offset + 7) / 8 * 8; offset + 8 <= end; offset += 8) {
        const std::optional<std::uint64_t> word = word_at(arguments.bytes, offset);
        if (!word || *word == 0 || allocation_at(kernel, *word) == nullptr) continue;
        BufferUse use;
        use.address = *word;
        use.argument_offset = offset;
        use.access_witness = witness;
        uses.push_back(use);
    }
}

std::vector<BufferUse> Accesses::pointers_of(const trace::Kernel& kernel,
                                             const trace::Arguments& arguments) const {
    const trace::KernelConfig* config = trace_.config_of(kernel);
    const model::KernelSignature signature = model::parse_kernel_signature(
        config != nullptr ? std::string_view(config->name) : std::string_view{});
    const model::AtenElementwise aten = model::parse_aten_elementwise(signature);
    const bool in_array =
        aten.layout == model::AtenLayout::Vectorized || aten.layout == model::AtenLayout::Unrolled;
    if (in_array && arguments.parameters.size() >= 3) return aten_array_pointers(aten, arguments);

    std::vector<BufferUse> uses;
    if (aten.layout == model::AtenLayout::Closure && arguments.parameters.size() == 2) {
        add_words(uses, kernel, arguments, arguments.parameters[1], "ATen argument order");
        for (BufferUse& use : uses)
            use.access = &use == &uses.front() ? Access::Write : Access::Read;
        return uses;
    }
    const bool typed = signature.has_parameters && signature.parameters.size() == arguments.parameters.size();
    for (std::size_t i = 0; i < arguments.parameters.size(); ++i) {
        const trace::Parameter parameter = arguments.parameters[i];
        if (!typed) {
            add_words(uses, kernel, arguments, parameter, "no signature");
        } else if (model::is_pointer_type(signature.parameters[i])) {
            BufferUse use;
            use.address = word_at(arguments.bytes, parameter.byte_offset).value_or(0);
            if (use.address == 0) continue;
            use.argument_offset = parameter.byte_offset;
            const bool to_const = model::is_pointer_to_const(signature.parameters[i]);
            use.access = to_const ? Access::Read : Access::ReadWrite;
            use.access_witness = to_const ? "const in the signature" : "not const in the signature";
            uses.push_back(use);
        } else if (!model::size_of_type(signature.parameters[i])) {
            add_words(uses, kernel, arguments, parameter, "inside a by-value struct");
        }
    }
    return uses;
}

std::optional<std::vector<BufferUse>> Accesses::of(const trace::Kernel& kernel) const {
    const trace::Arguments* arguments = trace_.arguments_of(kernel);
    if (arguments == nullptr) return std::nullopt;
    std::vector<BufferUse> uses = pointers_of(kernel, *arguments);
    for (BufferUse& use : uses) {
        const trace::Allocation* allocation = allocation_at(kernel, use.address);
        if (allocation == nullptr) continue;
        use.allocation_id = allocation->allocation_id;
        if (use.footprint_bytes == 0 && use.address == allocation->address &&
            use.access_witness != "ATen argument order" &&
            pointed_into_.count(allocation->allocation_id) == 0)
            use.footprint_bytes = allocation->bytes;
    }
    return uses;
}

bool may_overlap(const BufferUse& a, const BufferUse& b) {
    const BufferUse& low = a.address <= b.address ? a : b;
    const BufferUse& high = a.address <= b.address ? b : a;
    if (low.address == high.address) return true;
    if (low.footprint_bytes != 0) return high.address - low.address < low.footprint_bytes;
    return low.allocation_id != 0 && low.allocation_id == high.allocation_id;
}

} // namespace deepjit::analyzers
