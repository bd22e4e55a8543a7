#include "cli/doctor_checks.hpp"

#include "cli/recording_outcome.hpp"
#include "cli/tracer_library.hpp"
#include "fusers/jit/compiler.hpp"
#include "src/base/files.hpp"
#include "src/base/text.hpp"
#include "src/base/units.hpp"
#include "src/gpu/cupti.hpp"
#include "src/gpu/driver.hpp"
#include "src/gpu/nvrtc.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <unistd.h>

namespace deepjit::cli {
namespace {

namespace fs = std::filesystem;

/// Older drivers are not tested with the tracer.
constexpr int kOldestCudaVersion = 12040;
constexpr std::uintmax_t kLittleSpaceBytes = 1ULL << 30U;

std::string variable_or_empty(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

std::string cuda_release(int version) {
    return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

CheckResult failed(std::string id, const Diagnostic& error, CheckStatus status = CheckStatus::Fail) {
    std::string evidence = error.message;
    if (!error.evidence.empty()) evidence += ": " + error.evidence;
    return {std::move(id), status, std::move(evidence), error.hint};
}

CheckResult check_driver(const Result<const gpu::Driver*>& driver) {
    if (!driver) return failed("driver", driver.error());
    const int version = (*driver)->cuda_version();
    const std::string evidence =
        fmt::format("supports {} ('{}')", cuda_release(version), (*driver)->library_path());
    if (version < kOldestCudaVersion)
        return {"driver", CheckStatus::Warn, evidence,
                "update the driver: below CUDA 12.4 tracing is untested"};
    return {"driver", CheckStatus::Pass, evidence, ""};
}

CheckResult check_device(const Result<gpu::DeviceFacts>& device) {
    return {"device", CheckStatus::Pass,
            fmt::format("{} {}: {}, {} multiprocessors, L2 {}, memory {}, driver {}", device->index,
                        device->name, device->architecture(), device->multiprocessors,
                        format_bytes(static_cast<double>(device->l2_bytes)),
                        format_bytes(static_cast<double>(device->memory_bytes)), device->driver_version()),
            ""};
}

CheckResult check_cupti(const Result<const gpu::Driver*>& driver) {
    const auto cupti = gpu::cupti_facts();
    if (!cupti) return failed("cupti", cupti.error());
    const std::string evidence = fmt::format("of CUDA {}, API version {} ('{}')", cupti->toolkit,
                                             cupti->api_version, cupti->library_path);
    if (!cupti->known_problem.empty())
        return {"cupti", CheckStatus::Warn, evidence + "; " + cupti->known_problem,
                "install the CUPTI of a later toolkit, or name one with DEEPJIT_CUPTI_LIBRARY"};
    // CUPTI of one major version needs a driver of that version or newer.
    if (driver && cupti->api_version / 10000 > static_cast<std::uint32_t>((*driver)->cuda_version() / 1000))
        return {"cupti", CheckStatus::Warn,
                fmt::format("{}, while the driver supports {}", evidence,
                            cuda_release((*driver)->cuda_version())),
                "update the driver, or name an older CUPTI with DEEPJIT_CUPTI_LIBRARY"};
    return {"cupti", CheckStatus::Pass, evidence, ""};
}

/// Compiles for each device; with none, for the newest architecture that NVRTC knows.
CheckResult check_nvrtc(const std::vector<gpu::DeviceFacts>& devices) {
    const auto nvrtc = gpu::Nvrtc::instance();
    if (!nvrtc) return failed("nvrtc", nvrtc.error());
    std::vector<std::string> architectures;
    for (const gpu::DeviceFacts& device : devices)
        if (architectures.empty() || architectures.back() != device.architecture())
            architectures.push_back(device.architecture());
    if (architectures.empty())
        architectures.push_back(fmt::format("sm_{}", (*nvrtc)->supported_architectures().back()));
    double compile_ms = 0;
    for (const std::string& architecture : architectures) {
        const auto parsed = jit::parse_architecture(architecture);
        if (!parsed) return failed("nvrtc", parsed.error());
        const auto kernel = jit::compile_uncached(
            {.name = "doctor",
             .source = "extern \"C\" __global__ void doctor(float* data) { data[threadIdx.x] *= 2.0f; }",
             .architecture = *parsed});
        if (!kernel) return failed("nvrtc", kernel.error());
        compile_ms += kernel->compile_ms;
    }
    return {"nvrtc", CheckStatus::Pass,
            fmt::format("{}, compiled a kernel for {} in {:.0f} ms ('{}')", (*nvrtc)->version(),
                        join_words(architectures), compile_ms, (*nvrtc)->library_path()),
            ""};
}

CheckResult check_tracer(const Result<fs::path>& tracer) {
    if (!tracer) return failed("tracer", tracer.error());
    return {"tracer", CheckStatus::Pass, fmt::format("'{}'", tracer->string()), ""};
}

CheckResult check_other_profiler() {
    for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
        const std::string value = variable_or_empty(variable);
        if (!value.empty())
            return {"other_profiler", CheckStatus::Fail, fmt::format("{} is set to '{}'", variable, value),
                    fmt::format("another profiler would be attached as well: unset {}", variable)};
    }
    return {"other_profiler", CheckStatus::Pass, "no other profiler is set to be injected", ""};
}

CheckResult check_counters() {
    const auto parameters = read_file("/proc/driver/nvidia/params");
    if (!parameters) return {"counters", CheckStatus::Skip, "/proc/driver/nvidia/params cannot be read", ""};
    return judge_counter_permission(*parameters, ::geteuid() == 0);
}

CheckResult check_sandbox() {
    const auto version = read_file("/proc/version");
    if (version && version->find("gVisor") != std::string::npos)
        return {"sandbox", CheckStatus::Warn, "the program runs under gVisor, a sandboxed kernel",
                "hardware counters are not available there, and launches cost more than on the host"};
    return {"sandbox", CheckStatus::Pass, "the kernel is not one of the known sandboxes", ""};
}

CheckResult check_output_folder() {
    std::error_code error;
    const fs::path folder = fs::current_path(error);
    if (error || ::access(folder.c_str(), W_OK) != 0)
        return {"output_folder", CheckStatus::Warn, fmt::format("'{}' cannot be written to", folder.string()),
                "name another place with -o"};
    const std::uintmax_t free_bytes = fs::space(folder, error).available;
    const std::string evidence =
        fmt::format("'{}' has {} free", folder.string(), format_bytes(static_cast<double>(free_bytes)));
    if (!error && free_bytes < kLittleSpaceBytes)
        return {"output_folder", CheckStatus::Warn, evidence,
                "a long trace needs more; name another place with -o"};
    return {"output_folder", CheckStatus::Pass, evidence, ""};
}

CheckResult check_cache_folder() {
    const fs::path folder = user_cache_directory();
    const Result<void> made = make_private_directory(folder);
    if (!made) return failed("cache_folder", made.error(), CheckStatus::Warn);
    if (::access(folder.c_str(), W_OK) != 0)
        return {"cache_folder", CheckStatus::Warn, fmt::format("'{}' cannot be written to", folder.string()),
                "kernels are compiled and the machine is calibrated anew each time; set DEEPJIT_CACHE_DIR"};
    return {"cache_folder", CheckStatus::Pass, fmt::format("'{}'", folder.string()), ""};
}

std::int64_t realtime_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

CheckResult run_self_test(const fs::path& tracer) {
    LaunchLoop loop;
    loop.measurement.launches = 1;
    loop.measurement.rounds = 1;
    loop.tracer_library = tracer;
    const std::int64_t started_ns = realtime_ns();
    const auto outcome = run_launch_loop(loop);
    if (!outcome) return failed("self_test", outcome.error());
    return judge_self_test(*outcome, started_ns, realtime_ns());
}

} // namespace

CheckResult judge_counter_permission(const std::string& parameters, bool is_root) {
    if (parameters.find("RmProfilingAdminOnly: 0") != std::string::npos)
        return {"counters", CheckStatus::Pass, "hardware counters are open to every user", ""};
    if (is_root)
        return {"counters", CheckStatus::Pass,
                "hardware counters are for root (RmProfilingAdminOnly), which this user is", ""};
    return {"counters", CheckStatus::Warn,
            "hardware counters are for root (RmProfilingAdminOnly); recording kernels does not need them",
            "for measured memory traffic run as root or with CAP_SYS_ADMIN, or load the driver with "
            "NVreg_RestrictProfilingToAdminUsers=0"};
}

CheckResult judge_library_path(const std::string& paths) {
    std::size_t begin = 0;
    while (begin <= paths.size()) {
        const std::size_t end = std::min(paths.find(':', begin), paths.size());
        fs::path folder = paths.substr(begin, end - begin);
        if (!folder.empty() && folder.filename().empty()) folder = folder.parent_path(); // a trailing slash
        if (folder.filename() == "stubs")
            return {"library_path", CheckStatus::Warn,
                    fmt::format("LD_LIBRARY_PATH holds '{}'", folder.string()),
                    "remove it: the stub driver in it makes CUDA and CUPTI fail at start"};
        begin = end + 1;
    }
    return {"library_path", CheckStatus::Pass, "LD_LIBRARY_PATH holds no stub driver", ""};
}

CheckResult judge_self_test(const LaunchLoopOutcome& outcome, std::int64_t started_ns,
                            std::int64_t ended_ns) {
    constexpr std::int64_t kSlackNs = 1'000'000'000;
    if (!outcome.tracer_started)
        return {"self_test", CheckStatus::Fail, "a program was run under the tracer, which recorded nothing",
                "the driver did not load it: check that CUDA_INJECTION64_PATH reaches the program"};
    if (outcome.kernels.empty()) {
        Diagnostic missing = explain_missing_records(outcome.cupti_error, outcome.tracer_error);
        // Without a cause from CUPTI the remedy is to run doctor.
        if (outcome.cupti_error == 0) missing.hint = "see what the checks of driver and CUPTI above say";
        return failed("self_test", missing);
    }
    for (const KernelTimes& kernel : outcome.kernels) {
        const bool inside = kernel.start_ns >= started_ns - kSlackNs && kernel.end_ns <= ended_ns + kSlackNs;
        if (!inside || kernel.end_ns <= kernel.start_ns)
            return {"self_test", CheckStatus::Fail,
                    fmt::format("a recorded kernel runs from {} to {} ns, outside of the test's {} to {}",
                                kernel.start_ns, kernel.end_ns, started_ns, ended_ns),
                    "use another CUPTI (DEEPJIT_CUPTI_LIBRARY): this one's clock is wrong"};
    }
    const KernelTimes& last = outcome.kernels.back();
    return {"self_test", CheckStatus::Pass,
            fmt::format("recorded {} kernels, the last of {}", outcome.kernels.size(),
                        format_duration(static_cast<double>(last.end_ns - last.start_ns))),
            ""};
}

std::vector<CheckResult> run_doctor_checks() {
    std::vector<CheckResult> checks;
    const auto driver = gpu::Driver::instance();
    checks.push_back(check_driver(driver));
    std::vector<gpu::DeviceFacts> devices;
    for (int index = 0; driver && index < (*driver)->device_count(); ++index) {
        const auto device = gpu::device_facts(index);
        checks.push_back(device ? check_device(device) : failed("device", device.error()));
        if (device) devices.push_back(*device);
    }
    if (!driver)
        checks.push_back({"device", CheckStatus::Skip, "needs the driver", ""});
    else if ((*driver)->device_count() == 0)
        checks.push_back({"device", CheckStatus::Fail, "the driver shows no device",
                          "check CUDA_VISIBLE_DEVICES and nvidia-smi -L"});
    const auto tracer = find_tracer_library();
    checks.push_back(check_cupti(driver));
    checks.push_back(check_nvrtc(devices));
    checks.push_back(check_tracer(tracer));
    checks.push_back(check_other_profiler());
    checks.push_back(check_counters());
    checks.push_back(judge_library_path(variable_or_empty("LD_LIBRARY_PATH")));
    checks.push_back(check_sandbox());
    checks.push_back(check_output_folder());
    checks.push_back(check_cache_folder());
    if (devices.empty() || !tracer)
        checks.push_back({"self_test", CheckStatus::Skip,
                          fmt::format("needs {}", devices.empty() ? "a device" : "the tracer"), ""});
    else
        checks.push_back(run_self_test(*tracer));
    return checks;
}

} // namespace deepjit::cli
