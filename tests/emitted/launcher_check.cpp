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

alignas(256) float memory[4][1004];

const char* call(int shift = 0, std::int64_t element_count = add_relu::kElementCount) {
    return add_relu::launch(memory[0], memory[1], memory[2] + shift, memory[3], element_count,
                            reinterpret_cast<CUstream>(7));
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
    return failures == 0 ? 0 : 1;
}
