#include "src/tracer/definitions.hpp"
#include "src/tracer/nvtx_events.hpp"
#include "src/tracer/nvtx_names.hpp"
#include "src/tracer/recording.hpp"
#include "src/tracer/session.hpp"

#define NVTX_NO_IMPL // its types alone: this library must not carry an NVTX of its own
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstring>
#include <string_view>

/// NVTX is a header: each library of the target that uses it carries a table of function pointers, which it
/// has filled by the library that $NVTX_INJECTION64_PATH names on its first call. Handles are ids, not
/// addresses, so that all of them understand each other's.
namespace deepjit::tracer {
namespace {

/// This thread's state, or null where nothing is to be recorded.
ThreadState* state_if_active() noexcept {
    return recording().active() ? recording().thread_state() : nullptr;
}

std::string_view view_of(const char* text) noexcept {
    return text != nullptr ? std::string_view(text) : std::string_view();
}

std::string_view view_of(const wchar_t* text, ThreadState& state) noexcept {
    return utf8_of(text, {reinterpret_cast<char*>(state.argument_bytes), sizeof state.argument_bytes});
}

template <class Handle>
Handle handle_of(std::uint32_t id) noexcept {
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(id));
}

template <class Handle>
std::uint32_t id_of(Handle handle) noexcept {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle));
}

std::uint32_t name_id_of(ThreadState& state, const nvtxEventAttributes_t& event) noexcept {
    switch (event.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
        if (event.message.ascii == nullptr) return 0;
        return definitions().name_id_of(state, event.message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
        if (event.message.unicode == nullptr) return 0;
        return definitions().name_id_of(state, view_of(event.message.unicode, state));
    case NVTX_MESSAGE_TYPE_REGISTERED:
        return id_of(event.message.registered);
    default:
        return 0;
    }
}

std::size_t payload_bytes(std::int32_t type) noexcept {
    if (type >= NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 && type <= NVTX_PAYLOAD_TYPE_DOUBLE) return 8;
    return type >= NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 && type <= NVTX_PAYLOAD_TYPE_FLOAT ? 4 : 0;
}

NvtxEvent event_of(ThreadState& state, const nvtxEventAttributes_t* given) noexcept {
    NvtxEvent event;
    if (given == nullptr) return event;
    nvtxEventAttributes_t all{}; // the program's headers may be of another version
    std::memcpy(&all, given, std::min<std::size_t>(given->size, sizeof all));
    event.name_id = name_id_of(state, all);
    event.attributes.category = all.category;
    if (all.colorType == NVTX_COLOR_ARGB) {
        event.attributes.flags = wire::NvtxAttributes::kHasColor;
        event.attributes.color = all.color;
    }
    if (const std::size_t bytes = payload_bytes(all.payloadType); bytes != 0) {
        event.attributes.payload_type = static_cast<std::uint8_t>(all.payloadType);
        std::memcpy(&event.attributes.payload, &all.payload, bytes);
    }
    return event;
}

NvtxEvent event_of(ThreadState& state, const char* message) noexcept {
    NvtxEvent event;
    if (message != nullptr) event.name_id = definitions().name_id_of(state, message);
    return event;
}

NvtxEvent event_of(ThreadState& state, const wchar_t* message) noexcept {
    NvtxEvent event;
    if (message != nullptr) event.name_id = definitions().name_id_of(state, view_of(message, state));
    return event;
}

// ---- the functions that NVTX calls, by the type of their message

template <class Message>
void mark(Message message) noexcept {
    ThreadState* const state = state_if_active();
    if (state != nullptr) mark_nvtx(0, event_of(*state, message));
}

void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) noexcept {
    ThreadState* const state = state_if_active();
    if (state != nullptr) mark_nvtx(id_of(domain), event_of(*state, event));
}

template <class Message>
nvtxRangeId_t range_start(Message message) noexcept {
    ThreadState* const state = state_if_active();
    return state != nullptr ? start_nvtx_range(*state, 0, event_of(*state, message)) : 0;
}

nvtxRangeId_t domain_range_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) noexcept {
    ThreadState* const state = state_if_active();
    return state != nullptr ? start_nvtx_range(*state, id_of(domain), event_of(*state, event)) : 0;
}

void range_end(nvtxRangeId_t range) noexcept {
    if (range != 0 && recording().active()) end_nvtx_range(range);
}

void domain_range_end(nvtxDomainHandle_t, nvtxRangeId_t range) noexcept {
    range_end(range);
}

template <class Message>
int range_push(Message message) noexcept {
    ThreadState* const state = state_if_active();
    return state != nullptr ? push_nvtx_range(*state, 0, event_of(*state, message))
                            : NVTX_NO_PUSH_POP_TRACKING;
}

int domain_range_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) noexcept {
    ThreadState* const state = state_if_active();
    return state != nullptr ? push_nvtx_range(*state, id_of(domain), event_of(*state, event))
                            : NVTX_NO_PUSH_POP_TRACKING;
}

int domain_range_pop(nvtxDomainHandle_t domain) noexcept {
    ThreadState* const state = state_if_active();
    return state != nullptr ? pop_nvtx_range(*state, id_of(domain)) : NVTX_NO_PUSH_POP_TRACKING;
}

int range_pop() noexcept {
    return domain_range_pop(nullptr);
}

void domain_name_category(nvtxDomainHandle_t domain, std::uint32_t category, const char* name) noexcept {
    ThreadState* const state = state_if_active();
    if (state != nullptr) name_nvtx_category(*state, id_of(domain), category, view_of(name));
}

void domain_name_category_wide(nvtxDomainHandle_t domain, std::uint32_t category,
                               const wchar_t* name) noexcept {
    ThreadState* const state = state_if_active();
    if (state != nullptr) name_nvtx_category(*state, id_of(domain), category, view_of(name, *state));
}

void name_category(std::uint32_t category, const char* name) noexcept {
    domain_name_category(nullptr, category, name);
}

void name_category_wide(std::uint32_t category, const wchar_t* name) noexcept {
    domain_name_category_wide(nullptr, category, name);
}

// A handle must not be null, which means "none": the default domain, or no tool.

nvtxStringHandle_t register_string(nvtxDomainHandle_t, const char* text) noexcept {
    ThreadState* const state = state_if_active();
    return handle_of<nvtxStringHandle_t>(state != nullptr ? register_nvtx_string(*state, view_of(text)) : 0);
}

nvtxStringHandle_t register_string_wide(nvtxDomainHandle_t, const wchar_t* text) noexcept {
    ThreadState* const state = state_if_active();
    return handle_of<nvtxStringHandle_t>(
        state != nullptr ? register_nvtx_string(*state, view_of(text, *state)) : 0);
}

nvtxDomainHandle_t domain_create(const char* name) noexcept {
    ThreadState* const state = state_if_active();
    return handle_of<nvtxDomainHandle_t>(state != nullptr ? create_nvtx_domain(*state, view_of(name)) : 0);
}

nvtxDomainHandle_t domain_create_wide(const wchar_t* name) noexcept {
    ThreadState* const state = state_if_active();
    return handle_of<nvtxDomainHandle_t>(state != nullptr ? create_nvtx_domain(*state, view_of(name, *state))
                                                          : 0);
}

void domain_destroy(nvtxDomainHandle_t domain) noexcept {
    if (domain != nullptr && recording().active()) end_nvtx_domain(id_of(domain));
}

// ---- installing them

/// One of the target's tables of functions; its version may have more or fewer of them than these headers.
struct FunctionTable {
    NvtxFunctionTable functions = nullptr;
    unsigned int size = 0;

    template <class Function>
    void set(unsigned int index, Function function) const noexcept {
        if (index < size && functions[index] != nullptr)
            *functions[index] = reinterpret_cast<NvtxFunctionPointer>(function);
    }
};

FunctionTable table_of(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) noexcept {
    FunctionTable table;
    if (callbacks.GetModuleFunctionTable(module, &table.functions, &table.size) == 0 ||
        table.functions == nullptr)
        return {};
    return table;
}

void install_core(const FunctionTable& table) noexcept {
    table.set(NVTX_CBID_CORE_MarkEx, mark<const nvtxEventAttributes_t*>);
    table.set(NVTX_CBID_CORE_MarkA, mark<const char*>);
    table.set(NVTX_CBID_CORE_MarkW, mark<const wchar_t*>);
    table.set(NVTX_CBID_CORE_RangeStartEx, range_start<const nvtxEventAttributes_t*>);
    table.set(NVTX_CBID_CORE_RangeStartA, range_start<const char*>);
    table.set(NVTX_CBID_CORE_RangeStartW, range_start<const wchar_t*>);
    table.set(NVTX_CBID_CORE_RangeEnd, range_end);
    table.set(NVTX_CBID_CORE_RangePushEx, range_push<const nvtxEventAttributes_t*>);
    table.set(NVTX_CBID_CORE_RangePushA, range_push<const char*>);
    table.set(NVTX_CBID_CORE_RangePushW, range_push<const wchar_t*>);
    table.set(NVTX_CBID_CORE_RangePop, range_pop);
    table.set(NVTX_CBID_CORE_NameCategoryA, name_category);
    table.set(NVTX_CBID_CORE_NameCategoryW, name_category_wide);
}

void install_domains(const FunctionTable& table) noexcept {
    table.set(NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
    table.set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_range_start);
    table.set(NVTX_CBID_CORE2_DomainRangeEnd, domain_range_end);
    table.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_range_push);
    table.set(NVTX_CBID_CORE2_DomainRangePop, domain_range_pop);
    table.set(NVTX_CBID_CORE2_DomainNameCategoryA, domain_name_category);
    table.set(NVTX_CBID_CORE2_DomainNameCategoryW, domain_name_category_wide);
    table.set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
    table.set(NVTX_CBID_CORE2_DomainRegisterStringW, register_string_wide);
    table.set(NVTX_CBID_CORE2_DomainCreateA, domain_create);
    table.set(NVTX_CBID_CORE2_DomainCreateW, domain_create_wide);
    table.set(NVTX_CBID_CORE2_DomainDestroy, domain_destroy);
}

} // namespace
} // namespace deepjit::tracer

/// Called once by each copy of NVTX in the target. 0: nothing is to be recorded, and NVTX does nothing from
/// then on.
extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) noexcept {
    using namespace deepjit::tracer;
    if (get_export_table == nullptr) return 0;
    const auto* const callbacks =
        static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
    if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks ||
        callbacks->GetModuleFunctionTable == nullptr || !session().open_recording())
        return 0;
    install_core(table_of(*callbacks, NVTX_CB_MODULE_CORE));
    install_domains(table_of(*callbacks, NVTX_CB_MODULE_CORE2));
    return 1;
}

/// The same for NVTX 2, a shared library (libnvToolsExt.so.1) of CUDA 12 and before; its tables are the same.
extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx(NvtxGetExportTableFunc_t get_export_table) noexcept {
    return InitializeInjectionNvtx2(get_export_table);
}
