#include "src/ingest/nvtx_ranges.hpp"

#include "src/ingest/operator_names.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace deepjit::ingest {
namespace {

bool is_own_range(std::uint32_t thread_id, std::uint64_t range_id) {
    return range_id >> 32U == thread_id;
}

bool has_ended(const trace::NvtxRange& range, std::int64_t time_ns) {
    return range.end_ns && *range.end_ns <= time_ns;
}

void set_payload(trace::NvtxRange& row, std::uint8_t type, std::uint64_t bytes) {
    if (type > static_cast<std::uint8_t>(trace::NvtxPayloadType::Float)) return;
    row.payload_type = static_cast<trace::NvtxPayloadType>(type);
    const auto low_half = static_cast<std::uint32_t>(bytes);
    switch (row.payload_type) {
    case trace::NvtxPayloadType::Double:
        row.payload_real = std::bit_cast<double>(bytes);
        break;
    case trace::NvtxPayloadType::Float:
        row.payload_real = static_cast<double>(std::bit_cast<float>(low_half));
        break;
    case trace::NvtxPayloadType::Uint32:
        row.payload_integer = low_half;
        break;
    case trace::NvtxPayloadType::Int32:
        row.payload_integer = static_cast<std::int32_t>(low_half);
        break;
    default:
        row.payload_integer = static_cast<std::int64_t>(bytes);
    }
}

void set_attributes(trace::NvtxRange& row, std::string_view tail) {
    wire::NvtxAttributes attributes;
    if (tail.size() < sizeof attributes) return;
    std::memcpy(&attributes, tail.data(), sizeof attributes);
    row.category = attributes.category;
    if ((attributes.flags & wire::NvtxAttributes::kHasColor) != 0) row.color = attributes.color;
    set_payload(row, attributes.payload_type, attributes.payload);
}

} // namespace

void NvtxRanges::read_ahead(wire::Reader recording) {
    while (const auto record = recording.next()) {
        const auto end = record->as<wire::NvtxEnd>();
        if (end && !is_own_range(record->thread_id, end->range_id))
            ends_elsewhere_.emplace(end->range_id, end->time_ns);
    }
}

bool NvtxRanges::read(const wire::RecordView& record) {
    if (record.kind < wire::RecordKind::NvtxDomain || record.kind > wire::RecordKind::NvtxMark) return false;
    if (const auto pushed = record.as<wire::NvtxPush>()) {
        push(record, *pushed);
    } else if (const auto popped = record.as<wire::NvtxPop>()) {
        pop(record.thread_id, *popped);
    } else if (const auto started = record.as<wire::NvtxStart>()) {
        start(record, *started);
    } else if (const auto ended = record.as<wire::NvtxEnd>()) {
        end(record.thread_id, *ended);
    } else if (const auto mark = record.as<wire::NvtxMark>()) {
        trace::NvtxRange row = row_of(record, *mark, trace::NvtxKind::Mark);
        row.end_ns = row.start_ns;
        write(row);
    } else if (const auto created = record.as<wire::NvtxDomain>()) {
        trace::NvtxDomain& row = domain(created->domain_id, created->time_ns);
        row.name = name(created->name_id);
        row.start_ns = created->time_ns;
    } else if (const auto destroyed = record.as<wire::NvtxDomainEnd>()) {
        const auto found = domains_.find(destroyed->domain_id);
        if (found != domains_.end()) found->second.end_ns = destroyed->time_ns;
    } else if (const auto category = record.as<wire::NvtxCategory>()) {
        trace::NvtxCategory row;
        row.domain_id = database_domain_id(category->domain_id, process_.start_ns);
        row.category = category->category;
        row.name = name(category->name_id);
        row.process_id = process_.process_id;
        trace_.add(row);
    }
    return true;
}

void NvtxRanges::push(const wire::RecordView& record, const wire::NvtxPush& event) {
    trace::NvtxRange row = row_of(record, event, trace::NvtxKind::PushPop);
    auto& open = thread(record.thread_id).open;
    const auto around = std::find_if(open.rbegin(), open.rend(), [&](const trace::NvtxRange& range) {
        return range.domain_id == row.domain_id;
    });
    if (around != open.rend()) {
        row.parent_range_id = around->range_id;
        row.level = around->level + 1;
    }
    open.push_back(std::move(row));
}

void NvtxRanges::pop(std::uint32_t thread_id, const wire::NvtxPop& event) {
    auto& open = thread(thread_id).open;
    const std::int64_t domain_id = database_domain_id(event.domain_id, event.time_ns);
    const auto innermost = std::find_if(open.rbegin(), open.rend(), [&](const trace::NvtxRange& range) {
        return range.domain_id == domain_id;
    });
    if (innermost == open.rend()) return; // its push was lost
    innermost->end_ns = event.time_ns;
    write(*innermost);
    open.erase(std::next(innermost).base());
}

void NvtxRanges::start(const wire::RecordView& record, const wire::NvtxStart& event) {
    trace::NvtxRange row = row_of(record, event, trace::NvtxKind::StartEnd);
    Thread& owner = thread(record.thread_id);
    const std::uint64_t range_id = event.range_id; // packed fields cannot be passed by reference
    if (const auto end = ends_elsewhere_.find(range_id); end != ends_elsewhere_.end()) {
        row.end_ns = end->second;
        ends_elsewhere_.erase(end);
        write(row);
        row.name.reset();
    }
    const std::int64_t time_ns = row.start_ns;
    owner.started.insert_or_assign(range_id, std::move(row));
    if (owner.started.size() >= owner.prune_at) {
        std::erase_if(owner.started, [&](const auto& entry) { return has_ended(entry.second, time_ns); });
        owner.prune_at = std::max<std::size_t>(64, owner.started.size() * 2);
    }
}

void NvtxRanges::end(std::uint32_t thread_id, const wire::NvtxEnd& event) {
    if (!is_own_range(thread_id, event.range_id)) return; // known already
    auto& started = thread(thread_id).started;
    const auto found = started.find(event.range_id);
    if (found == started.end()) return;
    if (!found->second.end_ns) {
        found->second.end_ns = event.time_ns;
        write(found->second);
    }
    started.erase(found);
}

void NvtxRanges::add_launch(std::uint32_t thread_id, std::uint32_t correlation_id, std::int64_t start_ns) {
    if (threads_.empty()) return;
    const Thread& launching = thread(thread_id);
    if (!launching.open.empty()) {
        launches_.push_back({correlation_id, launching.open.back().range_id});
        return;
    }
    const auto latest = std::find_if(launching.started.rbegin(), launching.started.rend(),
                                     [&](const auto& entry) { return !has_ended(entry.second, start_ns); });
    if (latest != launching.started.rend()) launches_.push_back({correlation_id, latest->second.range_id});
}

void NvtxRanges::finish() {
    for (const auto& [thread_id, thread] : threads_) {
        for (const trace::NvtxRange& row : thread.open)
            write(row);
        for (const auto& [range_id, row] : thread.started)
            if (!row.end_ns) write(row);
    }
    for (auto& [id, row] : domains_) {
        row.process_id = process_.process_id;
        trace_.add(row);
    }
    threads_.clear();
    last_thread_ = nullptr;
    std::sort(launches_.begin(), launches_.end(),
              [](const Launch& a, const Launch& b) { return a.correlation_id < b.correlation_id; });
}

std::int64_t NvtxRanges::range_of_launch(std::uint32_t correlation_id) {
    // All kernels of a graph launch share its correlation id.
    for (std::size_t ahead = 0; ahead < 2 && cursor_ + ahead < launches_.size(); ++ahead) {
        if (launches_[cursor_ + ahead].correlation_id != correlation_id) continue;
        cursor_ += ahead;
        return launches_[cursor_].range_id;
    }
    const auto found =
        std::lower_bound(launches_.begin(), launches_.end(), correlation_id,
                         [](const Launch& launch, std::uint32_t id) { return launch.correlation_id < id; });
    if (found == launches_.end() || found->correlation_id != correlation_id) return 0;
    cursor_ = static_cast<std::size_t>(found - launches_.begin());
    return found->range_id;
}

NvtxRanges::Thread& NvtxRanges::thread(std::uint32_t thread_id) {
    if (last_thread_ == nullptr || last_thread_id_ != thread_id) {
        last_thread_ = &threads_[thread_id];
        last_thread_id_ = thread_id;
    }
    return *last_thread_;
}

std::int64_t NvtxRanges::database_domain_id(std::uint32_t domain_id, std::int64_t time_ns) {
    return domain_id == 0 ? 0 : domain(domain_id, time_ns).domain_id;
}

trace::NvtxDomain& NvtxRanges::domain(std::uint32_t domain_id, std::int64_t time_ns) {
    trace::NvtxDomain& row = domains_[domain_id];
    if (row.domain_id == 0) {
        row.domain_id = trace_.next_nvtx_domain_id();
        row.start_ns = time_ns;
        domain_rows_.emplace(row.domain_id, &row);
    }
    return row;
}

std::optional<std::string> NvtxRanges::name(std::uint32_t name_id) const {
    const auto found = strings_.find(name_id);
    return found != strings_.end() ? std::optional(found->second) : std::nullopt;
}

template <class Event>
trace::NvtxRange NvtxRanges::row_of(const wire::RecordView& record, const Event& event,
                                    trace::NvtxKind kind) {
    trace::NvtxRange row;
    row.range_id = trace_.next_nvtx_range_id();
    row.kind = kind;
    row.domain_id = database_domain_id(event.domain_id, event.time_ns);
    row.name = name(event.name_id);
    row.start_ns = event.time_ns;
    row.thread_id = record.thread_id;
    row.process_id = process_.process_id;
    set_attributes(row, record.tail<Event>());
    return row;
}

void NvtxRanges::write(const trace::NvtxRange& row) {
    trace_.add(row);
    if (row.kind == trace::NvtxKind::Mark || !row.name) return;
    std::optional<std::string_view> domain_name;
    if (row.domain_id != 0) {
        const auto& named = domain_rows_.at(row.domain_id)->name;
        if (!named) return;
        domain_name = *named;
    }
    const auto facts = operator_of_range(domain_name, *row.name);
    if (!facts) return;
    trace::NvtxOperator op;
    op.range_id = row.range_id;
    op.framework = facts->framework;
    op.operator_name = facts->operator_name;
    op.sequence = facts->sequence;
    op.op_id = facts->op_id;
    op.shapes_json = facts->shapes_json;
    op.input_op_ids_json = facts->input_op_ids_json;
    trace_.add(op);
}

} // namespace deepjit::ingest
