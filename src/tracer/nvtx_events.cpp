#include "src/tracer/nvtx_events.hpp"

#include "src/tracer/clock.hpp"
#include "src/tracer/recording.hpp"
#include "src/tracer/recording_window.hpp"

#include <atomic>
#include <string_view>

namespace deepjit::tracer {
namespace {

constexpr int kNotTracked = -2; // NVTX_NO_PUSH_POP_TRACKING
constexpr int kNoOpenRange = -1;

constinit std::atomic<std::uint32_t> started_ranges{0};

ThreadState::NvtxDepth* find_depth(ThreadState& state, std::uint32_t domain_id) noexcept {
    for (std::uint32_t i = 0; i < state.nvtx_open_domains; ++i) {
        if (state.nvtx_depth[i].domain_id == domain_id) return &state.nvtx_depth[i];
    }
    return nullptr;
}

int enter(ThreadState& state, std::uint32_t domain_id) noexcept {
    ThreadState::NvtxDepth* depth = find_depth(state, domain_id);
    if (depth == nullptr) {
        if (state.nvtx_open_domains == ThreadState::kMaxNvtxDomains) return kNotTracked;
        depth = &state.nvtx_depth[state.nvtx_open_domains++];
        *depth = {domain_id, 0};
    }
    return static_cast<int>(depth->open_ranges++);
}

int leave(ThreadState& state, std::uint32_t domain_id) noexcept {
    ThreadState::NvtxDepth* const depth = find_depth(state, domain_id);
    if (depth == nullptr) {
        const bool may_be_untracked = state.nvtx_open_domains == ThreadState::kMaxNvtxDomains;
        return may_be_untracked ? kNotTracked : kNoOpenRange;
    }
    const int level = static_cast<int>(--depth->open_ranges);
    if (level == 0) *depth = state.nvtx_depth[--state.nvtx_open_domains];
    return level;
}

/// The attributes as a record's tail; empty where there are none.
std::string_view tail_of(const wire::NvtxAttributes& attributes) noexcept {
    const bool has_any = attributes.flags != 0 || attributes.payload_type != 0 || attributes.category != 0;
    return has_any ? std::string_view(reinterpret_cast<const char*>(&attributes), sizeof attributes)
                   : std::string_view();
}

template <class Record>
Record event_record(std::uint32_t domain_id, const NvtxEvent& event) noexcept {
    Record record;
    record.domain_id = domain_id;
    record.name_id = event.name_id;
    record.time_ns = now_ns();
    return record;
}

} // namespace

int push_nvtx_range(ThreadState& state, std::uint32_t domain_id, const NvtxEvent& event) noexcept {
    const int level = enter(state, domain_id);
    recording().append(event_record<wire::NvtxPush>(domain_id, event), tail_of(event.attributes));
    recording_window().on_range_pushed(domain_id, level, event.name_id);
    return level;
}

int pop_nvtx_range(ThreadState& state, std::uint32_t domain_id) noexcept {
    const std::int64_t time_ns = now_ns();
    const int level = leave(state, domain_id);
    if (level == kNoOpenRange) return level;
    recording_window().on_range_popped(domain_id, level);
    wire::NvtxPop record;
    record.domain_id = domain_id;
    record.time_ns = time_ns;
    recording().append(record);
    return level;
}

std::uint64_t start_nvtx_range(ThreadState& state, std::uint32_t domain_id, const NvtxEvent& event) noexcept {
    auto record = event_record<wire::NvtxStart>(domain_id, event);
    record.range_id = static_cast<std::uint64_t>(state.thread_id) << 32U |
                      started_ranges.fetch_add(1, std::memory_order_relaxed);
    recording().append(record, tail_of(event.attributes));
    recording_window().on_range_started(record.range_id, event.name_id);
    return record.range_id;
}

void end_nvtx_range(std::uint64_t range_id) noexcept {
    recording_window().on_range_ended(range_id);
    wire::NvtxEnd record;
    record.range_id = range_id;
    record.time_ns = now_ns();
    recording().append(record);
}

void mark_nvtx(std::uint32_t domain_id, const NvtxEvent& event) noexcept {
    recording().append(event_record<wire::NvtxMark>(domain_id, event), tail_of(event.attributes));
}

void end_nvtx_domain(std::uint32_t domain_id) noexcept {
    wire::NvtxDomainEnd record;
    record.domain_id = domain_id;
    record.time_ns = now_ns();
    recording().append(record);
}

} // namespace deepjit::tracer
