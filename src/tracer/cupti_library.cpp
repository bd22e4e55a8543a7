#include "src/tracer/cupti_library.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <limits.h>

namespace deepjit::tracer {
namespace {

constexpr const char* kFoldersOfToolkit[] = {"extras/CUPTI/lib64", "lib64", "lib",
                                             "targets/x86_64-linux/lib"};

void* open_in_toolkit(const char* toolkit, int major) noexcept {
    if (toolkit == nullptr || *toolkit != '/') return nullptr;
    char path[PATH_MAX];
    for (const char* const folder : kFoldersOfToolkit) {
        std::snprintf(path, sizeof path, "%s/%s/libcupti.so.%d", toolkit, folder, major);
        if (void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
    }
    return nullptr;
}

/// By absolute path first: the loader's own path may hold a copy of another version, or a stub.
void* open_major_version(int major, int newest_minor) noexcept {
    const char* const toolkits[] = {std::getenv("CUDA_HOME"), std::getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (const char* const toolkit : toolkits) {
        if (void* const library = open_in_toolkit(toolkit, major)) return library;
    }
    char path[PATH_MAX];
    for (int minor = newest_minor; minor >= 0; --minor) {
        std::snprintf(path, sizeof path, "/usr/local/cuda-%d.%d", major, minor);
        if (void* const library = open_in_toolkit(path, major)) return library;
    }
    std::snprintf(path, sizeof path, "/usr/lib/x86_64-linux-gnu/libcupti.so.%d", major);
    if (void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
    std::snprintf(path, sizeof path, "libcupti.so.%d", major);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void* open_library(int driver_version) noexcept {
    if (const char* const path = std::getenv("DEEPJIT_CUPTI_LIBRARY"); path != nullptr && *path != '\0') {
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    for (const char* const name : {"libcupti.so.13", "libcupti.so.12"}) {
        if (void* const library = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return library;
    }
    constexpr int kNewestMinor = 9;
    const int major = driver_version == 0 ? 13 : driver_version / 1000;
    const int minor = driver_version == 0 ? kNewestMinor : driver_version % 1000 / 10;
    if (major >= 13) {
        if (void* const library = open_major_version(13, major > 13 ? kNewestMinor : minor)) return library;
    }
    return open_major_version(12, major > 12 ? kNewestMinor : minor);
}

template <class Function>
bool find(void* library, const char* name, Function& function) noexcept {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

} // namespace

bool CuptiLibrary::open(int driver_version, char* reason, std::size_t reason_bytes) noexcept {
    void* const library = open_library(driver_version);
    if (library == nullptr) {
        const char* const error = dlerror();
        std::snprintf(reason, reason_bytes, "CUPTI could not be opened: %s.",
                      error != nullptr ? error : "the loader gave no reason");
        return false;
    }
    handle = library;
    if (!resolve(library)) {
        std::snprintf(reason, reason_bytes, "The CUPTI library that was opened lacks functions of CUPTI 12.");
        return false;
    }
    return true;
}

bool CuptiLibrary::resolve(void* library) noexcept {
    find(library, "cuptiActivityEnableDriverApi", activity_enable_driver_api);
    find(library, "cuptiSubscribe_v2", subscribe_v2);
    find(library, "cuptiGetGraphNodeId", get_graph_node_id);
    find(library, "cuptiGetDeviceId", get_device_id);
    find(library, "cuptiGetGraphExecId", get_graph_exec_id);
    find(library, "cuptiGetContextId", get_context_id);
    const bool complete =
        find(library, "cuptiGetVersion", get_version) &&
        find(library, "cuptiGetResultString", get_result_string) &&
        find(library, "cuptiSubscribe", subscribe) && find(library, "cuptiEnableCallback", enable_callback) &&
        find(library, "cuptiActivityRegisterCallbacks", activity_register_callbacks) &&
        find(library, "cuptiActivityEnable", activity_enable) &&
        find(library, "cuptiActivityDisable", activity_disable) &&
        find(library, "cuptiActivityFlushAll", activity_flush_all) &&
        find(library, "cuptiActivityGetNextRecord", activity_get_next_record) &&
        find(library, "cuptiActivityGetNumDroppedRecords", activity_get_num_dropped_records);
    return complete && get_version(&version) == CUPTI_SUCCESS;
}

CUptiResult
CuptiLibrary::subscribe_or_name_owner(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                      char (&owner)[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN]) const noexcept {
    owner[0] = '\0';
    const CUptiResult result = subscribe(subscriber, callback, nullptr);
    if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || subscribe_v2 == nullptr) return result;
    // The second form is called for the name alone: a client must not mix the two.
    CUpti_SubscriberParams parameters{};
    parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    parameters.subscriberName = "deepjit";
    parameters.oldSubscriberName = owner;
    parameters.oldSubscriberSize = sizeof owner;
    return subscribe_v2(subscriber, callback, nullptr, &parameters);
}

const char* CuptiLibrary::path() const noexcept {
    Dl_info info{};
    const bool is_known = get_version != nullptr &&
                          dladdr(reinterpret_cast<const void*>(get_version), &info) != 0 &&
                          info.dli_fname != nullptr;
    return is_known ? info.dli_fname : "unknown";
}

const char* CuptiLibrary::result_name(CUptiResult result) const noexcept {
    const char* name = nullptr;
    if (get_result_string == nullptr || get_result_string(result, &name) != CUPTI_SUCCESS ||
        name == nullptr) {
        return "an unknown CUPTI error";
    }
    return name;
}

} // namespace deepjit::tracer
