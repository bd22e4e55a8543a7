#include "tests/fake_cuda/device_image.hpp"
#include "tests/fake_cuda/fake_cuda.hpp"
#include "tests/fake_cuda/nvtx_library.hpp"

#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

// A target for tests: NVTX calls in the way that its first argument names. Its exit status is how often NVTX
// answered otherwise than it promises.

namespace {

int wrong_answers = 0;

void expect(bool right) {
    if (!right) ++wrong_answers;
}

// ---- CUDA, as little as a launch needs

constexpr fake_cuda::FakeKernel kKernel = {"_Z5emptyv", nullptr, 0};
constexpr fake_cuda::FakeImage kImage = {fake_cuda::kImageMagic, &kKernel, 1};
CUfunction kernel = nullptr;
CUcontext context = nullptr;

void check(CUresult result) {
    if (result != CUDA_SUCCESS) std::_Exit(100);
}

void start_cuda() {
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
    fake_cuda_load_images_as(&kImage);
    CUmodule module = nullptr;
    check(cuModuleLoadData(&module, fake_cuda::ptx_with({kKernel.name}).c_str()));
    check(cuModuleGetFunction(&kernel, module, kKernel.name));
}

/// `grid` tells the launch apart in the trace.
void launch(unsigned int grid, CUstream stream = nullptr) {
    check(cuLaunchKernel(kernel, grid, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
}

// ---- NVTX

nvtxEventAttributes_t named(const char* name) {
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name;
    return event;
}

nvtxEventAttributes_t named(nvtxStringHandle_t name) {
    nvtxEventAttributes_t event = named("");
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = name;
    return event;
}

/// Each call once, with each kind of attribute.
void all_calls() {
    nvtxInitialize(nullptr);
    nvtxNameCategoryA(3, "third");
    nvtxNameCategoryW(4, L"vierte \u00e9");
    expect(nvtxRangePushA("push A") == 0);
    expect(nvtxRangePushW(L"push W \u20ac") == 1);
    nvtxEventAttributes_t event = named("push Ex");
    event.category = 3;
    event.colorType = NVTX_COLOR_ARGB;
    event.color = 0xFF12'3456;
    event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    event.payload.ullValue = UINT64_MAX;
    expect(nvtxRangePushEx(&event) == 2);
    nvtxMarkA("mark A");
    nvtxMarkW(L"mark W");
    event = named("mark Ex");
    event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    event.payload.llValue = -5;
    nvtxMarkEx(&event);
    expect(nvtxRangePop() == 2);
    expect(nvtxRangePop() == 1);
    expect(nvtxRangePop() == 0);

    const nvtxRangeId_t ascii = nvtxRangeStartA("start A");
    const nvtxRangeId_t wide = nvtxRangeStartW(L"start W");
    event = named("start Ex");
    event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    event.payload.dValue = 0.25;
    const nvtxRangeId_t with_event = nvtxRangeStartEx(&event);
    expect(ascii != 0 && wide != 0 && with_event != 0 && ascii != wide && wide != with_event);
    nvtxRangeEnd(ascii);
    nvtxRangeEnd(with_event);
    nvtxRangeEnd(wide);

    nvtxDomainHandle_t const domain = nvtxDomainCreateA("domain A");
    nvtxDomainHandle_t const wide_domain = nvtxDomainCreateW(L"domain W");
    expect(domain != nullptr && wide_domain != nullptr && domain != wide_domain);
    nvtxDomainNameCategoryA(domain, 3, "third of A");
    nvtxDomainNameCategoryW(wide_domain, 3, L"third of W");
    nvtxStringHandle_t const text = nvtxDomainRegisterStringA(domain, "registered A");
    nvtxStringHandle_t const wide_text = nvtxDomainRegisterStringW(domain, L"registered W");
    expect(text != nullptr && wide_text != nullptr && text != wide_text);
    event = named(text);
    event.category = 3;
    event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
    event.payload.uiValue = UINT32_MAX;
    expect(nvtxDomainRangePushEx(domain, &event) == 0);
    event = named(wide_text);
    event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    event.payload.iValue = -7;
    expect(nvtxDomainRangePushEx(domain, &event) == 1);
    event = named("of W");
    event.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
    event.payload.fValue = 1.5F;
    event.category = 3;
    expect(nvtxDomainRangePushEx(wide_domain, &event) == 0);
    event = named("domain mark");
    nvtxDomainMarkEx(domain, &event);
    event = named("domain start");
    const nvtxRangeId_t started = nvtxDomainRangeStartEx(domain, &event);
    nvtxDomainRangeEnd(domain, started);
    expect(nvtxDomainRangePop(domain) == 1);
    expect(nvtxDomainRangePop(wide_domain) == 0);
    expect(nvtxDomainRangePop(domain) == 0);
    nvtxDomainDestroy(domain);
}

/// Launches with a grid of 1, 2, … in and around ranges.
void attribution() {
    const int level = nvtxRangePushA("before CUDA");
    expect(level == 0);
    start_cuda();
    launch(1);
    nvtxDomainHandle_t const domain = nvtxDomainCreateA("app");
    nvtxEventAttributes_t event = named("inner");
    nvtxDomainRangePushEx(domain, &event);
    launch(2);
    nvtxRangePop(); // the outer one of another domain first: ranges of domains may cross
    launch(3);
    nvtxDomainRangePop(domain);
    launch(4);

    const nvtxRangeId_t first = nvtxRangeStartA("started first");
    const nvtxRangeId_t second = nvtxRangeStartA("started second");
    launch(5);
    nvtxRangePushA("pushed later");
    launch(6);
    nvtxRangePop();
    nvtxRangeEnd(second);
    launch(7);
    std::thread([&] { nvtxRangeEnd(first); }).join();
    launch(8);
    const nvtxRangeId_t elsewhere = nvtxRangeStartA("of another thread");
    std::thread([] {
        check(cuCtxSetCurrent(context));
        launch(9);
    }).join();
    nvtxRangeEnd(elsewhere);

    CUstream stream = nullptr;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    nvtxRangePushA("capture");
    check(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(10, stream);
    launch(11, stream);
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&executable, graph, 0));
    nvtxRangePop();
    nvtxRangePushA("replay");
    check(cuGraphLaunch(executable, stream));
    check(cuGraphLaunch(executable, stream));
    nvtxRangePop();
    check(cuStreamSynchronize(stream));
}

void threads(int count, int frames) {
    start_cuda();
    std::vector<std::thread> all;
    for (int thread = 0; thread < count; ++thread) {
        all.emplace_back([=] {
            check(cuCtxSetCurrent(context));
            const std::string name = "thread " + std::to_string(thread);
            for (int frame = 0; frame < frames; ++frame) {
                if (nvtxRangePushA(name.c_str()) != 0) std::_Exit(101);
                launch(static_cast<unsigned int>(thread) + 1);
                if (nvtxRangePop() != 0) std::_Exit(101);
            }
        });
    }
    for (std::thread& thread : all)
        thread.join();
}

void inside_library() {
    launch(1);
}

void two_copies() {
    start_cuda();
    nvtxRangePushA("program");
    wrong_answers += nvtx_library_run(inside_library);
    launch(2);
    nvtxEventAttributes_t event =
        named(static_cast<nvtxStringHandle_t>(nvtx_library_register("named by the library")));
    nvtxRangePushEx(&event);
    launch(3);
    expect(nvtxRangePop() == 1);
    expect(nvtxRangePop() == 0);
}

void unbalanced() {
    expect(nvtxRangePop() < 0);
    expect(nvtxRangePushA("a") == 0);
    expect(nvtxRangePop() == 0);
    expect(nvtxRangePop() < 0);
    nvtxRangeEnd(0);
    nvtxRangeEnd(12'345);
    nvtxDomainRangePop(nvtxDomainCreateA("empty"));
    nvtxRangePushA("left open");
    nvtxRangeStartA("never ended");
    nvtxRangePushA("inside it");
    std::thread([] { nvtxRangePushA("left by its thread"); }).join();
    std::thread([] {
        expect(nvtxRangePushA("of a later thread") == 0);
        expect(nvtxRangePop() == 0);
    }).join();
    // More domains than a thread's levels are kept for: levels are then unknown, ranges recorded.
    for (int i = 0; i < 100; ++i) {
        nvtxDomainHandle_t const domain = nvtxDomainCreateA(("d" + std::to_string(i)).c_str());
        nvtxEventAttributes_t event = named("many domains");
        const int level = nvtxDomainRangePushEx(domain, &event);
        expect(level == 0 || level == NVTX_NO_PUSH_POP_TRACKING);
    }
}

void odd_names() {
    nvtxMarkA("odd \"name\"\n*/ ../\xff\xfe'; DROP TABLE nvtx_range_entry; --");
    nvtxMarkA(std::string(8 * 1024, 'n').c_str());
    nvtxMarkA("");
    nvtxMarkA(nullptr);
    nvtxMarkW(nullptr);
    nvtxMarkEx(nullptr);
    nvtxEventAttributes_t event = named("");
    event.size = 0; // says that it holds nothing
    nvtxMarkEx(&event);
    event = named("of a larger struct");
    event.size = 200;
    std::vector<char> larger(200);
    std::memcpy(larger.data(), &event, sizeof event);
    nvtxMarkEx(reinterpret_cast<const nvtxEventAttributes_t*>(larger.data()));
    const wchar_t wide[] = {L'a',
                            static_cast<wchar_t>(0xD800),
                            static_cast<wchar_t>(0x1F600),
                            static_cast<wchar_t>(0x7FFF'FFFF),
                            L'z',
                            L'\0'};
    nvtxMarkW(wide);
    nvtxMarkW(std::wstring(100'000, L'\u20ac').c_str());
    nvtxMarkA(std::string(100'000, 'x').c_str());
}

void operators() {
    start_cuda();
    nvtxRangePushA("aten::add, seq = 12, op_id = 34, sizes = [[2, 3], []], input_op_ids = [(3,0), (4,1)]");
    launch(1);
    nvtxRangePop();
    nvtxDomainHandle_t const tensorrt = nvtxDomainCreateA("TensorRT");
    nvtxEventAttributes_t call = named("ExecutionContext::enqueue");
    nvtxDomainRangePushEx(tensorrt, &call);
    nvtxEventAttributes_t layer = named("{ForeignNode[/a/Add.../b/Mul]}");
    nvtxDomainRangePushEx(tensorrt, &layer);
    launch(2);
    nvtxDomainRangePop(tensorrt);
    nvtxDomainRangePop(tensorrt);
}

void killed() {
    for (int i = 0; i < 100; ++i) {
        nvtxRangePushA("frame");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (i == 99) std::raise(SIGKILL);
        nvtxRangePop();
    }
}

/// NVTX in the parent, CUDA in a forked child alone, with what the parent has named.
void fork_and_use_cuda() {
    nvtxDomainHandle_t const domain = nvtxDomainCreateA("of the parent");
    nvtxStringHandle_t const text = nvtxDomainRegisterStringA(domain, "registered before the fork");
    nvtxRangePushA("parent");
    const pid_t child = fork();
    if (child == 0) {
        expect(nvtxRangePop() < 0);
        start_cuda();
        nvtxEventAttributes_t event = named(text);
        expect(nvtxDomainRangePushEx(domain, &event) == 0);
        launch(1);
        expect(nvtxDomainRangePop(domain) == 0);
        std::exit(wrong_answers);
    }
    int status = 0;
    waitpid(child, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect(nvtxRangePop() == 0);
}

std::size_t resident_bytes() {
    std::size_t pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%*u %zu", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// `count` ranges, each with a name of its own where `distinct`. Prints the cost where asked for.
void many(long count, bool distinct, bool print) {
    char name[80] = "step";
    const auto push_pop = [&](long i) {
        if (distinct) std::snprintf(name, sizeof name, "aten::add, seq = %ld, op_id = %ld", i, i);
        nvtxRangePushA(name);
        nvtxRangePop();
    };
    for (long i = 0; i < 200'000; ++i)
        push_pop(i);
    const std::size_t before = resident_bytes();
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < count; ++i)
        push_pop(200'000 + i);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    const std::size_t after = resident_bytes();
    const double growth_mib = (static_cast<double>(after) - static_cast<double>(before)) / (1 << 20);
    if (print)
        std::printf("%.1f ns a push and pop, resident memory grew by %.1f MiB\n",
                    spent.count() / static_cast<double>(count), growth_mib);
    expect(growth_mib < 8);
}

} // namespace

int main(int argc, char** argv) {
    const std::string way = argc > 1 ? argv[1] : "";
    const long count = argc > 2 ? std::atol(argv[2]) : 0;
    if (way == "all-calls")
        all_calls();
    else if (way == "attribution")
        attribution();
    else if (way == "threads")
        threads(4, static_cast<int>(count));
    else if (way == "two-copies")
        two_copies();
    else if (way == "unbalanced")
        unbalanced();
    else if (way == "odd-names")
        odd_names();
    else if (way == "operators")
        operators();
    else if (way == "killed")
        killed();
    else if (way == "fork")
        fork_and_use_cuda();
    else if (way == "many" || way == "many-names")
        many(count, way == "many-names", argc > 3);
    else
        return 99;
    return wrong_answers;
}
