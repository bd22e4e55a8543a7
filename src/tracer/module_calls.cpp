#include "src/tracer/module_calls.hpp"

#include "src/tracer/image_store.hpp"

namespace deepjit::tracer {

void on_module_load_call(const WatchedCall& call, const void* raw) noexcept {
    switch (call.id) {
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
        return image_store().store_argument(static_cast<const cuModuleLoadData_params*>(raw)->image);
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
        return image_store().store_argument(static_cast<const cuModuleLoadDataEx_params*>(raw)->image);
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
        return image_store().store_argument(static_cast<const cuModuleLoadFatBinary_params*>(raw)->fatCubin);
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData:
        return image_store().store_argument(static_cast<const cuLibraryLoadData_params*>(raw)->code);
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad:
        return image_store().store_file(static_cast<const cuModuleLoad_params*>(raw)->fname);
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile:
        return image_store().store_file(static_cast<const cuLibraryLoadFromFile_params*>(raw)->fileName);
    default:
        return;
    }
}

void on_module_loaded(const CUpti_ModuleResourceData& module) noexcept {
    image_store().store_cubin(module.pCubin, module.cubinSize, module.moduleId);
}

} // namespace deepjit::tracer
