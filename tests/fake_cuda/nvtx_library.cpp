#include "tests/fake_cuda/nvtx_library.hpp"

#include <nvtx3/nvToolsExt.h>

extern "C" __attribute__((visibility("default"))) int nvtx_library_run(void (*inside)()) {
    static nvtxDomainHandle_t const domain = nvtxDomainCreateA("library");
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = "library domain";
    int wrong = 0;
    const int default_level = nvtxRangePushA("library default");
    if (nvtxDomainRangePushEx(domain, &event) != 0) ++wrong;
    inside();
    if (nvtxDomainRangePop(domain) != 0) ++wrong;
    if (nvtxRangePop() != default_level) ++wrong;
    return wrong;
}

extern "C" __attribute__((visibility("default"))) void* nvtx_library_register(const char* text) {
    return nvtxDomainRegisterStringA(nullptr, text);
}
