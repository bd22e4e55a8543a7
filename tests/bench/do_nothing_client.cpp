/// A CUPTI client that asks for kernel records and throws them away: the floor under what any tracer can
/// cost. Injected as the tracer is, through CUDA_INJECTION64_PATH. It prints nothing and never fails its
/// host. With DO_NOTHING_CLIENT_SUBSCRIBES=1 it subscribes to callbacks in place of that, and enables none.

#include <cupti.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::size_t kBufferBytes = 1U << 20U; // as the tracer's
constexpr std::size_t kBufferAlignment = 8;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
    *size = *buffer != nullptr ? kBufferBytes : 0;
    *max_records = 0;
}

void CUPTIAPI drop_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
    std::free(buffer);
}

template <class Function>
Function* find(void* library, const char* name, Function*) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

} // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    void* const cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
    if (cupti == nullptr) return 1;
    auto* const register_callbacks =
        find(cupti, "cuptiActivityRegisterCallbacks", &cuptiActivityRegisterCallbacks);
    auto* const enable = find(cupti, "cuptiActivityEnable", &cuptiActivityEnable);
    if (register_callbacks == nullptr || enable == nullptr) return 1;
    if (const char* const subscribes = std::getenv("DO_NOTHING_CLIENT_SUBSCRIBES"); subscribes != nullptr) {
        CUpti_SubscriberHandle subscriber = nullptr;
        auto* const subscribe = find(cupti, "cuptiSubscribe", &cuptiSubscribe);
        if (subscribe != nullptr)
            subscribe(
                &subscriber, [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}, nullptr);
        return 1;
    }
    if (register_callbacks(give_buffer, drop_buffer) == CUPTI_SUCCESS)
        enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    return 1;
}
