#include "cli/traffic_report.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

namespace deepjit::cli {
namespace {

// CUptiResult, cupti_result.h of CUDA 13.0. The command line needs no CUPTI header for these.
constexpr int kNotInitialized = 15;
constexpr int kNotSupported = 27;
constexpr int kVirtualizedDeviceNotSupported = 33;
constexpr int kInsufficientPrivileges = 35;
constexpr int kMultipleSubscribers = 39;
constexpr int kVirtualizedPrivileges = 40;
constexpr int kConfidentialComputing = 41;
constexpr int kMigDevice = 43;

constexpr const char* kWithoutCounters = "; everything else is in the trace";

std::string remedy_for(const ingest::TrafficSummary& traffic) {
    switch (traffic.cupti_error) {
    case kInsufficientPrivileges:
        return "the driver lets administrators alone read them (ERR_NVGPUCTRPERM): run as root or with "
               "CAP_SYS_ADMIN (docker: --cap-add=SYS_ADMIN), or load the driver with "
               "NVreg_RestrictProfilingToAdminUsers=0: put 'options nvidia "
               "NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d/nvidia-profiling.conf and reboot";
    case kVirtualizedPrivileges:
    case kVirtualizedDeviceNotSupported:
        return "this is a virtual GPU, whose counters the hypervisor keeps to itself: its administrator can "
               "switch on profiling for this virtual machine, or give it a whole GPU";
    case kConfidentialComputing:
        return "a GPU in confidential-computing mode has no counters; record on one that is not";
    case kMigDevice:
        return "this part of a GPU (MIG) has no counters of its own; record on a whole GPU";
    case kMultipleSubscribers:
        return "another profiler holds the counters (ncu, nsys, DCGM); stop it for this run";
    case kNotSupported:
        if (traffic.passes > 1)
            return fmt::format("this GPU would have to run each kernel {} times, which is not safe for a "
                               "program that shares its memory with others",
                               traffic.passes);
        return "use the CUPTI of CUDA 12.6 Update 2 or later; DEEPJIT_CUPTI_LIBRARY names one";
    case kNotInitialized:
        return "either libnvperf_host.so is not beside libcupti.so, or the kernel of this machine is a sandbox "
               "(gVisor) or virtual machine that does not pass the GPU's counters on: record on a machine "
               "where 'ncu' can read them";
    default:
        return "check whether 'ncu' can read counters here: a sandboxed kernel (gVisor) or a virtual machine "
               "may not pass them on";
    }
}

} // namespace

Diagnostic explain_missing_counters(const ingest::TrafficSummary& traffic) {
    const std::string evidence =
        traffic.error_text.empty() ? "the second run recorded no counters" : traffic.error_text;
    return failure("memory traffic was not measured" + std::string(kWithoutCounters), evidence,
                   traffic.cupti_error != 0
                       ? remedy_for(traffic)
                       : "make sure that the program runs the same kernels when it is run again");
}

void report_traffic(Terminal& terminal, const ingest::TrafficSummary& traffic) {
    if (traffic.joined_kernels == 0) return terminal.warn(explain_missing_counters(traffic));
    const char* const kinds = traffic.has_dram && traffic.has_l2 ? "DRAM and L2"
                              : traffic.has_dram                 ? "DRAM"
                                                                 : "L2";
    terminal.note(fmt::format("measured the memory traffic of {} of {} kernels ({}, {})",
                              format_count(traffic.joined_kernels), format_count(traffic.timed_kernels),
                              kinds,
                              traffic.passes == 1 ? "one pass" : fmt::format("{} passes", traffic.passes)));
    const bool ran_others = !traffic.timed_a_part && traffic.counted_kernels != traffic.timed_kernels;
    if (traffic.matched_kernels < traffic.timed_kernels || ran_others)
        terminal.warn(failure(
            "the second run did not run the same kernels as the first",
            fmt::format("{} of its {} kernels are the first run's {}, in the same order",
                        format_count(traffic.matched_kernels), format_count(traffic.counted_kernels),
                        format_count(traffic.timed_kernels)),
            "a program that does the same work each time, with fixed seeds and inputs, gives all figures"));
    if (traffic.timed_a_part)
        terminal.note(
            "the second run measured all of the program; each kernel of the part that was timed has the "
            "figures of the first that is like it, in order");
    if (traffic.measured_kernels < traffic.counted_kernels)
        terminal.warn(failure(fmt::format("{} kernels of the second run have no figures",
                                          format_count(traffic.counted_kernels - traffic.measured_kernels)),
                              traffic.error_text.empty()
                                  ? "CUPTI's figures and kernel records were not of the same number"
                                  : traffic.error_text));
}

} // namespace deepjit::cli
