#pragma once

#include "src/model/chain.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What `deepjit advise` found out, apart from how it is shown. Analyzers fill it, renderers read it.
/// Every time is in nanoseconds; names are bytes as the program gave them.
namespace deepjit::model {

/// How a figure came about. Only `Measured` figures were seen in the trace itself.
enum class Origin {
    Measured,
    Calibrated, ///< measured on the machine that recorded the trace, apart from the program
    Derived,    ///< taken from other measurements of this trace
    Assumed,    ///< an option's value, or a bound where nothing was measured
    Estimated,  ///< computed by the launch model
};
std::string_view name_of(Origin origin);

/// A figure with its spread: for measured ones the 10th, 50th and 90th percentile over frames, for estimated
/// ones the bounds and the value expected between them.
struct Range {
    double low = 0;
    double typical = 0;
    double high = 0;
};

/// Why the device was idle for a while.
enum class GapCause {
    HostLate,      ///< the kernel started as soon as its launch reached the idle device
    DeviceLatency, ///< the launch was there in time
    Blocked,       ///< something else kept the host: `blocker` names it
    Tracer,        ///< CUPTI was at work (overhead record)
    Unknown,       ///< the launch call was not recorded
};
std::string_view name_of(GapCause cause);

/// Idle time of one cause, summed over all frames and divided by their number.
struct GapTotal {
    GapCause cause = GapCause::Unknown;
    std::string blocker;         ///< Blocked only: "cuStreamSynchronize", "host work"
    bool between_frames = false; ///< part of c, not launch overhead
    double per_frame_ns = 0;
    double count_per_frame = 0;
};

/// The launch model t = c + K·L + T of the program's frames.
struct FrameSummary {
    std::uint32_t process_id = 0;
    std::uint32_t device_id = 0;
    std::uint32_t stream_id = 0;
    std::int64_t frames = 0;             ///< complete, regular ones; warm-up and others left out
    std::int64_t kernels_per_frame = 0;  ///< K
    std::int64_t launches_per_frame = 0; ///< launch calls of the host; fewer than K with CUDA Graphs
    std::int64_t kernels_outside = 0;    ///< of this stream in no frame: warm-up, irregular frames
    bool in_graph = false;               ///< every kernel was launched by a CUDA Graph
    Range frame_ns;                      ///< t: from this frame's first kernel to the next frame's
    Range span_ns;                       ///< from its first kernel's start to its last kernel's end
    Range busy_ns;                       ///< T: union of everything the device ran within the span
    Range exposed_traced_ns;             ///< K·L as traced: the exposed gaps before its kernels
    Range exposed_ns;           ///< K·L without the tracer's own cost; as traced where that is unknown
    Range launch_ns;            ///< L as traced: a K-th part of K·L
    Range launch_corrected_ns;  ///< L without the tracer's own cost
    Range other_idle_ns;        ///< c: idle time that is no launch overhead, as traced
    double tracer_graph_ns = 0; ///< of c, what tracing added to the frame's graph launches; 0 unknown
    double exposed_share = 0;   ///< exposed gaps within the span ÷ span, both corrected
    bool corrected = false;     ///< the tracer's cost is known for every kind of launch in the frame
    bool launch_corrected =
        false; ///< exposed_ns and L are without it; they hold nothing of graph launches' cost
    bool calls_recorded =
        true; ///< false: no launch call is known, so that K·L and L are not, and c is all idle
};

/// A statement of one analyzer.
struct Finding {
    enum class Role {
        Trust,     ///< how far the trace can be believed; shown first
        ThreePart, ///< one of the three parts of the seed's test
        Culprit,   ///< what costs time, and what to do about it
    };
    enum class Outcome { Holds, DoesNotHold, Abstains };
    /// A number that decided the outcome, beside the threshold it was held against.
    struct Measure {
        std::string name; ///< snake_case with its unit: "short_launch_share"
        double value = 0;
        double threshold = 0;
    };

    std::string rule; ///< kebab-case, stable: "short-kernels"
    Role role = Role::Culprit;
    Outcome outcome = Outcome::Holds;
    std::string statement; ///< one sentence
    std::string remedy;    ///< one sentence or empty
    std::vector<Measure> measures;
};
std::string_view name_of(Finding::Role role);
std::string_view name_of(Finding::Outcome outcome);

enum class Advice { LeaveAlone, CudaGraph, Fuse, FuseThenGraph, Withheld };
std::string_view
name_of(Advice advice); ///< "leave alone", "CUDA Graph", "fuse", "fuse then graph", "withheld"

/// Estimated time of the same work in each way that it could run, without the tracer's cost.
struct WaysToRun {
    double as_recorded_ns = 0;
    std::optional<double> in_graph_ns; ///< absent where it is in a graph already, or no graph can hold it
    double fused_ns = 0;
    std::optional<double> fused_in_graph_ns; ///< absent with in_graph_ns
};

/// What to do, what it is estimated to save per frame, and why.
struct Verdict {
    Advice advice = Advice::LeaveAlone;
    WaysToRun ways;
    Range graph_saving_ns;            ///< CUDA Graph against the stream; zero where already in a graph
    Range fuse_saving_ns;             ///< fused against how it runs in the trace
    Range fuse_saving_after_graph_ns; ///< fused against a graph replay of the unfused kernels
    std::string deciding_term;        ///< one sentence
    std::string graph_blocker;        ///< what keeps a CUDA Graph from capturing it; empty: nothing seen
    std::optional<double> break_even_frames; ///< fuse verdicts: frames until compiling and tuning are repaid
};

/// Bytes moved by a chain, *logical*: footprints of the arguments.
struct LogicalTraffic {
    double moved_bytes = 0;      ///< what all steps read and write
    double compulsory_bytes = 0; ///< the chain's inputs once and its outputs once
    double inflation() const { return compulsory_bytes > 0 ? moved_bytes / compulsory_bytes : 0; }
};

struct ChainAdvice {
    Chain chain;
    Range stream_ns; ///< as recorded: K·L + T, corrected for the tracer where that is known
    Range busy_ns;   ///< T of the chain
    /// K·L of the chain per frame, corrected, with the gap before its first kernel; medians.
    double exposed_ns = 0;
    std::optional<LogicalTraffic> traffic; ///< absent where a footprint is unknown
    std::string traffic_unknown;           ///< which, where absent
    Verdict verdict;
};

/// A constant or threshold that the verdicts rest on.
struct Parameter {
    std::string name; ///< snake_case with its unit: "graph_node_ns"
    double value = 0;
    Origin origin = Origin::Assumed;
};

/// Why a trace holds no kernel, or not those that matter.
struct NoKernels {
    enum class Cause {
        DriverNotInitialised, ///< the program never used CUDA
        NothingLaunched,      ///< it initialised the driver and launched no kernel
        RecordsMissing,       ///< it launched kernels, and no record of them arrived
        NotWatched,           ///< the tracer could not watch it
        CutOff,               ///< it was ended before its recording reached the disk
        NothingSelected,      ///< only a part of the run was to be recorded, and it did not come to that
        GraphLevel,           ///< graph launches were recorded as a whole, without their kernels
    };
    Cause cause = Cause::DriverNotInitialised;
    std::int64_t launches_called = 0; ///< launch calls in the trace
    std::int64_t graph_launches = 0;  ///< recorded as a whole
    std::int64_t graph_ns = 0;        ///< that these took on the device, in sum
    std::string tracer_error;         ///< what the tracer reported, one sentence or empty
};
std::string_view name_of(NoKernels::Cause cause);

struct Report {
    std::string source;      ///< tool that recorded the trace
    std::string device_name; ///< of the frames' device; empty unknown
    std::int64_t kernel_count = 0;
    std::optional<NoKernels> no_kernels; ///< where nothing can be said about kernels
    std::optional<FrameSummary> frame;   ///< absent where no period was found
    std::string no_frame_reason;         ///< one sentence where absent
    Verdict verdict;                     ///< for the whole frame
    std::vector<Finding> findings;
    std::vector<GapTotal> gaps;      ///< by time, longest first
    std::vector<ChainAdvice> chains; ///< the one that can save most first
    std::vector<Parameter> parameters;

    /// Null where there is no such chain.
    const ChainAdvice* chain(int number) const;
};

} // namespace deepjit::model
