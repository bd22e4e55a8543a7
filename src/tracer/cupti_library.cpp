#include "src/tracer/cupti_library.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <limits.h>

namespace deepjit::tracer {
namespace {

constexpr const char* kToolkitFolders[] = {
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/extras/CUPTI/lib64",
    "/usr/local/cuda/lib",
    "/usr/local/cuda/targets/x86_64-linux/lib",
};

void* open_major_version(int major) noexcept {
    char path[PATH_MAX];
    for (const char* const folder : kToolkitFolders) {
        std::snprintf(path, sizeof path, "%s/libcupti.so.%d", folder, major);
        if (void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
    }
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
    const bool may_be_13 = driver_version == 0 || driver_version >= 13'000;
    if (may_be_13) {
        if (void* const library = open_major_version(13)) return library;
    }
    return open_major_version(12);
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
        find(library, "cuptiActivityFlushAll", activity_flush_all) &&
        find(library, "cuptiActivityGetNextRecord", activity_get_next_record) &&
        find(library, "cuptiActivityGetNumDroppedRecords", activity_get_num_dropped_records);
    return complete && get_version(&version) == CUPTI_SUCCESS;
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
