#include "src/tracer/argument_capture.hpp"

#include "src/tracer/definitions.hpp"
#include "src/tracer/recording.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace deepjit::tracer {
namespace {

constexpr ParameterLayout kUnknownLayout;
constexpr std::uint32_t kMaxParameters = kMaxArgumentBytes / sizeof(wire::Parameter);

/// The packed form of launch arguments: {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes,
/// CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END}, the pairs in any order.
std::string_view packed_arguments(void* const* extra) noexcept {
    const char* bytes = nullptr;
    std::size_t size = 0;
    for (int pair = 0; pair < 2; ++pair, extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            bytes = static_cast<const char*>(extra[1]);
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = *static_cast<const std::size_t*>(extra[1]);
        else
            break;
    }
    return bytes != nullptr ? std::string_view(bytes, size) : std::string_view();
}

} // namespace

std::uint32_t ArgumentCapture::save(ThreadState& state, CUfunction function, void* const* kernel_parameters,
                                    void* const* extra) noexcept {
    state.argument_bytes_used = 0;
    const ParameterLayout* const layout = layout_of(state, function);
    if (layout == nullptr || layout->layout_id == 0) return 0;
    char* const bytes = reinterpret_cast<char*>(state.argument_bytes);
    std::memset(bytes, 0, layout->total_bytes);
    if (kernel_parameters != nullptr) {
        for (std::uint32_t i = 0; i < layout->count; ++i) {
            const wire::Parameter& parameter = layout->parameters[i];
            if (kernel_parameters[i] == nullptr) return 0;
            std::memcpy(bytes + parameter.byte_offset, kernel_parameters[i], parameter.size_bytes);
        }
    } else if (extra != nullptr) {
        const std::string_view packed = packed_arguments(extra);
        std::memcpy(bytes, packed.data(), std::min<std::size_t>(packed.size(), layout->total_bytes));
    } else if (layout->count != 0) {
        return 0;
    }
    state.argument_bytes_used = layout->total_bytes;
    return definitions().arguments_id_of(state, layout->layout_id, {bytes, layout->total_bytes});
}

const ParameterLayout* ArgumentCapture::layout_of(ThreadState& state, CUfunction function) noexcept {
    const auto generation = generation_.load(std::memory_order_acquire);
    const auto slot = (reinterpret_cast<std::uintptr_t>(function) >> 4U) * 0x9E37'79B9'7F4A'7C15U;
    auto& known = state.known_layouts[(slot >> 32U) % ThreadState::kKnownLayouts];
    if (known.function != function || known.generation != generation) {
        known = {function, generation, query_layout(state, function)};
    }
    return known.layout;
}

const ParameterLayout* ArgumentCapture::query_layout(ThreadState& state, CUfunction function) noexcept {
    if (driver_.func_get_param_info == nullptr || driver_.kernel_get_param_info == nullptr)
        return &kUnknownLayout;
    // The place for the argument bytes is free until the layout is known, and too large for a small stack.
    auto* const parameters = reinterpret_cast<wire::Parameter*>(state.argument_bytes);
    std::uint32_t count = 0;
    const auto walk = [&](auto get_parameter) {
        for (count = 0; count < kMaxParameters; ++count) {
            std::size_t offset = 0;
            std::size_t size = 0;
            const CUresult result = get_parameter(count, &offset, &size);
            if (result != CUDA_SUCCESS) return result;
            if (offset + size > kMaxArgumentBytes) return CUDA_ERROR_UNKNOWN;
            parameters[count] = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)};
        }
        return CUDA_ERROR_UNKNOWN;
    };
    // CUDA_ERROR_INVALID_VALUE ends the walk; at the first index it may also mean "not this kind of handle".
    CUresult as_function = walk([&](std::size_t index, std::size_t* offset, std::size_t* size) {
        return driver_.func_get_param_info(function, index, offset, size);
    });
    if (as_function == CUDA_ERROR_INVALID_VALUE && count > 0) return share_layout(parameters, count);
    CUresult as_kernel = walk([&](std::size_t index, std::size_t* offset, std::size_t* size) {
        return driver_.kernel_get_param_info(reinterpret_cast<CUkernel>(function), index, offset, size);
    });
    if (as_kernel == CUDA_ERROR_INVALID_VALUE && count > 0) return share_layout(parameters, count);
    const bool has_none = as_function == CUDA_ERROR_INVALID_VALUE || as_kernel == CUDA_ERROR_INVALID_VALUE;
    return has_none && count == 0 ? share_layout(parameters, 0) : &kUnknownLayout;
}

const ParameterLayout* ArgumentCapture::share_layout(const wire::Parameter* parameters,
                                                     std::uint32_t count) noexcept {
    const std::size_t bytes = count * sizeof(wire::Parameter);
    const std::uint32_t id = definitions().layout_id_of({reinterpret_cast<const char*>(parameters), bytes});
    Guard guard(mutex_);
    if (id >= layouts_capacity_) {
        const std::uint32_t capacity = std::max(64U, id * 2);
        auto** const grown =
            static_cast<ParameterLayout**>(std::realloc(layouts_, capacity * sizeof *layouts_));
        if (grown == nullptr) return nullptr;
        std::memset(static_cast<void*>(grown + layouts_capacity_), 0,
                    (capacity - layouts_capacity_) * sizeof *layouts_);
        layouts_ = grown;
        layouts_capacity_ = capacity;
    }
    if (layouts_[id] != nullptr) return layouts_[id];
    auto* const layout = static_cast<ParameterLayout*>(std::calloc(1, sizeof(ParameterLayout)));
    auto* const copy = static_cast<wire::Parameter*>(std::calloc(count + 1, sizeof(wire::Parameter)));
    if (layout == nullptr || copy == nullptr) {
        std::free(layout);
        std::free(copy);
        return nullptr;
    }
    std::memcpy(static_cast<void*>(copy), parameters, bytes);
    layout->layout_id = id;
    layout->count = count;
    layout->parameters = copy;
    for (std::uint32_t i = 0; i < count; ++i) {
        layout->total_bytes = std::max(layout->total_bytes, copy[i].byte_offset + copy[i].size_bytes);
    }
    return layouts_[id] = layout;
}

} // namespace deepjit::tracer
