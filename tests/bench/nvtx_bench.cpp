#include "src/base/files.hpp"

#include <benchmark/benchmark.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace deepjit {
namespace {

/// Lets the tracer record the NVTX calls of this process, into a file that is gone when it ends.
bool start_recording() {
    const auto folder = make_temporary_directory("deepjit-bench-nvtx");
    if (!folder) return false;
    setenv("NVTX_INJECTION64_PATH", TRACER_LIBRARY, 1);
    setenv("DEEPJIT_RUN_DIR", folder->c_str(), 1);
    const bool records = nvtxRangePushA("first") == 0 && nvtxRangePop() == 0;
    std::filesystem::remove_all(*folder);
    return records;
}

bool is_recording() {
    static const bool records = start_recording();
    return records;
}

void push_and_pop_a_range(benchmark::State& state) {
    if (!is_recording()) return state.SkipWithError("the tracer does not record");
    for (auto _ : state) {
        nvtxRangePushA("transformer.layer.attention");
        nvtxRangePop();
    }
}
BENCHMARK(push_and_pop_a_range);

void push_and_pop_a_registered_range_of_a_domain(benchmark::State& state) {
    if (!is_recording()) return state.SkipWithError("the tracer does not record");
    static nvtxDomainHandle_t const domain = nvtxDomainCreateA("bench");
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "transformer.layer.attention");
    event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    event.payload.ullValue = 7;
    for (auto _ : state) {
        nvtxDomainRangePushEx(domain, &event);
        nvtxDomainRangePop(domain);
    }
}
BENCHMARK(push_and_pop_a_registered_range_of_a_domain);

/// As emit_nvtx does: each operator call has a name of its own. Making the name is in the time.
void push_and_pop_a_range_with_a_new_name(benchmark::State& state) {
    if (!is_recording()) return state.SkipWithError("the tracer does not record");
    char name[80];
    long call = 0;
    for (auto _ : state) {
        ++call;
        std::snprintf(name, sizeof name, "aten::add, seq = %ld, op_id = %ld", call, call);
        nvtxRangePushA(name);
        nvtxRangePop();
    }
}
BENCHMARK(push_and_pop_a_range_with_a_new_name);

void make_a_new_name(benchmark::State& state) {
    char name[80];
    long call = 0;
    for (auto _ : state) {
        ++call;
        std::snprintf(name, sizeof name, "aten::add, seq = %ld, op_id = %ld", call, call);
        benchmark::DoNotOptimize(name);
    }
}
BENCHMARK(make_a_new_name);

} // namespace
} // namespace deepjit
