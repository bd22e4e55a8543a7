#pragma once

#include "analyzers/options.hpp"
#include "src/model/report.hpp"

#include <optional>
#include <string>
#include <vector>

namespace deepjit::analyzers {

/// Constants that verdicts rest on, and where they come from.
struct LaunchConstants {
    double graph_node_ns = 0; ///< what a node of a replayed graph costs beside its recorded duration, at most
    model::Origin graph_node_origin = model::Origin::Assumed;
    std::optional<double> tracer_launch_ns; ///< added by tracing to one launch; absent: not calibrated
};

/// What is known of a stretch of launches in one frame. Times are medians over frames, corrected.
struct Stretch {
    std::int64_t launches = 0; ///< K
    double work_ns = 0;        ///< T
    double exposed_ns = 0;     ///< K·L
    bool in_graph = false;
    std::string graph_blocker;  ///< empty: a CUDA Graph could hold it
    double frame_ns = 0;        ///< of the frame around it
    double first_gap_ns = 0;    ///< the part of exposed_ns before its first kernel
    bool begins_frame = false;  ///< no launch of the frame precedes it
    bool calls_recorded = true; ///< false: why the device idles is unknown, so that exposed_ns says nothing
};

/// Estimated time of the stretch when a CUDA Graph replays it: T and between nothing and graph_node for each
/// gap between nodes. Before the frame's first kernel stands the launch of the graph instead, which waits as
/// long as that kernel's did.
model::Range time_in_graph(const Stretch& stretch, const LaunchConstants& constants);

/// What the steps of a chain tell about the work of a kernel that replaces them.
struct FusedWork {
    double longest_step_ns = 0;
    std::optional<double> inflation; ///< bytes moved ÷ compulsory; absent where unknown
};
/// Estimated work of the fused kernel: at most T (nothing gained but launches), at least its longest step.
/// Expected is T ÷ inflation where that is known, else the middle.
model::Range fused_work(const Stretch& stretch, const FusedWork& steps);

/// What else the frame launches beside a chain.
struct RestOfFrame {
    std::int64_t launches = 0;
    double exposed_ns = 0;
};

/// Verdict on one chain; withheld where exposed_ns says nothing. Fusing leaves the gap before its first
/// kernel. After fusing, a CUDA Graph is worth having only for the rest of the frame.
model::Verdict judge_chain(const Stretch& chain, const FusedWork& steps, const RestOfFrame& rest,
                           const LaunchConstants& constants, const AdviseOptions& options);

/// Verdict on the whole frame from those on its chains.
model::Verdict judge_frame(const Stretch& frame, const std::vector<model::ChainAdvice>& chains,
                           const LaunchConstants& constants, const AdviseOptions& options);

} // namespace deepjit::analyzers
