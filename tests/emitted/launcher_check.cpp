// Calls an emitted launcher (add_relu of check_emitted.py) over the stand-in driver.
#include "add_relu.hpp"
#include "recording_driver.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

int failures = 0;

void expect(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "not so: %s\n", what);
    ++failures;
}

bool mentions(const char* sentence, const char* words) {
    return sentence != nullptr && std::strstr(sentence, words) != nullptr;
}

alignas(256) float memory[4][1024];

const auto kStream = reinterpret_cast<CUstream>(7);

const char* call(int shift = 0, std::int64_t element_count = add_relu::kElementCount) {
    return add_relu::launch(memory[0], memory[1], memory[2] + shift, memory[3], element_count, kStream);
}

void check_pointer_rules() {
    const std::size_t launches = recording_driver().launches.size();
    const auto with = [](const float* b, float* out) {
        return add_relu::launch(memory[0], b, memory[2], out, add_relu::kElementCount, kStream);
    };
    expect(mentions(with(nullptr, memory[3]), "b is a null pointer"), "a null input is refused by name");
    expect(mentions(with(memory[1], nullptr), "out is a null pointer"), "a null output is refused by name");
    const auto* between = reinterpret_cast<const float*>(reinterpret_cast<const char*>(memory[1]) + 2);
    expect(mentions(with(between, memory[3]), "b is not aligned to its elements of 4 bytes"),
           "a pointer between two elements is refused");
    expect(mentions(with(memory[1], memory[1]), "out, which is written, overlaps b"), "in place is refused");
    expect(mentions(with(memory[1], memory[1] + 999), "overlaps b"), "an overlap of one element is refused");
    expect(recording_driver().launches.size() == launches, "a refused call launches nothing");
    expect(with(memory[2] - 1000, memory[3]) == nullptr, "an output right behind an input is no overlap");
}

void check_failing_driver() {
    RecordingDriver& driver = recording_driver();
    driver.context_generation = 10;
    driver.failing_attribute = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
    expect(mentions(call(), "cuDeviceGetAttribute failed"),
           "a capability that cannot be read is no capability");
    driver.failing_attribute = 0;

    driver.missing_entry = "add_relu_scalar";
    const int loads = driver.module_loads;
    for (int i = 0; i < 3; ++i)
        expect(mentions(call(), "no kernel add_relu_scalar"), "a kernel that is missing is named");
    expect(driver.module_loads == loads + 1, "an image that lacks a kernel is loaded once");
    expect(driver.module_unloads == 1, "and unloaded again");
    driver.missing_entry.clear();
}

} // namespace

int main() {
    RecordingDriver& driver = recording_driver();
    expect(call() == nullptr, "a call without a current context succeeds");
    expect(driver.primary_retains == 1, "it retains the primary context");
    expect(driver.launches.size() == 1 && driver.launches[0].stream == reinterpret_cast<CUstream>(7),
           "one launch on the given stream");
    expect(driver.launches[0].arguments[2] == memory[2] && driver.launches[0].arguments[3] == memory[3],
           "pointers arrive in order");

    expect(call(1) == nullptr && driver.launches.back().function != driver.launches[0].function,
           "a shifted pointer takes the general entry");
    expect(mentions(call(0, 999), "999 elements"), "another number of elements is refused");
    expect(driver.launches.size() == 2, "a refused call launches nothing");

    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([] {
            for (int k = 0; k < 100; ++k)
                expect(call() == nullptr, "calls from many threads succeed");
        });
    for (std::thread& thread : threads)
        thread.join();
    expect(driver.module_loads == 1, "one module for a context, however many threads");
    expect(driver.launches.size() == 802, "every call launched");

    driver.context_generation = 1;
    expect(call() == nullptr && driver.module_loads == 2,
           "a new context at an old address gets its own module");
    driver.context_generation = 2;
    driver.capability = 75;
    expect(mentions(call(), "sm_75") && mentions(call(), "sm_90"), "an older device is told what is held");
    driver.capability = 120;
    expect(call() == nullptr && driver.loaded_ptx, "a later device takes the PTX");
    driver.capability = 90;
    check_pointer_rules();
    check_failing_driver();
    return failures == 0 ? 0 : 1;
}
