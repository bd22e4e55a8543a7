#include "src/ingest/import_wire.hpp"

#include "src/base/text.hpp"
#include "src/ingest/kernel_traffic.hpp"
#include "src/ingest/mapped_file.hpp"
#include "src/ingest/wire_process.hpp"
#include "src/trace/trace.hpp"
#include "src/wire/reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>

namespace deepjit::ingest {
namespace fs = std::filesystem;
namespace {

struct RecordingFile {
    std::uint32_t process_id = 0; ///< 0 where the name does not say
    std::uint32_t image = 0;      ///< 0, then 1, 2, … after each exec
    fs::path path;
};

/// "process-PID.djw" or "process-PID.IMAGE.djw".
RecordingFile describe(const fs::path& path) {
    RecordingFile file;
    file.path = path;
    const std::string name = path.stem().string();
    static constexpr std::string_view prefix = "process-";
    if (!name.starts_with(prefix)) return file;
    const char* const end = name.data() + name.size();
    const auto [after_id, error] = std::from_chars(name.data() + prefix.size(), end, file.process_id);
    if (error != std::errc())
        file.process_id = 0;
    else if (after_id != end && *after_id == '.')
        std::from_chars(after_id + 1, end, file.image);
    return file;
}

Result<std::vector<RecordingFile>> recordings_in(const fs::path& folder) {
    std::error_code error;
    std::vector<RecordingFile> files;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == wire::kFileExtension) files.push_back(describe(entry->path()));
    }
    if (error)
        return failure("cannot read the run folder '" + printable(folder.string()) + "'", error.message());
    std::sort(files.begin(), files.end(), [](const RecordingFile& a, const RecordingFile& b) {
        return std::tie(a.process_id, a.image, a.path) < std::tie(b.process_id, b.image, b.path);
    });
    return files;
}

void sum_up(ImportSummary& summary, const ProcessSummary& process) {
    summary.processes.push_back(process);
    summary.driver_initialised = summary.driver_initialised || process.driver_initialised;
    summary.launches_called += process.launches_called;
    summary.kernels_recorded += process.kernels_recorded;
    summary.graph_launches += process.graph_launches;
    summary.zero_timestamps += process.zero_timestamps;
    summary.dropped_records += process.dropped_records;
    summary.lost_bytes += process.lost_bytes;
}

ProcessSummary unreadable(const RecordingFile& file, const Diagnostic& error) {
    ProcessSummary process;
    process.process_id = file.process_id;
    process.error_text = error.message + (error.evidence.empty() ? "" : " " + error.evidence);
    std::error_code no_size;
    const auto bytes = fs::file_size(file.path, no_size);
    process.lost_bytes = no_size ? 0 : static_cast<std::int64_t>(bytes);
    return process;
}

/// True for the beginning of one, too, which a full disk leaves, down to nothing at all.
bool begins_as_recording(std::string_view contents) {
    const std::size_t bytes = std::min(contents.size(), sizeof wire::kFileMagic);
    return std::memcmp(contents.data(), &wire::kFileMagic, bytes) == 0;
}

Diagnostic not_a_recording(const RecordingFile& file, const Diagnostic& error) {
    return failure("'" + printable(file.path.string()) + "' cannot be imported",
                   error.message + (error.evidence.empty() ? "" : " " + error.evidence),
                   error.hint.empty() ? "give the run folder that 'deepjit profile' named when it failed"
                                      : error.hint);
}

/// What the first process whose kernels could not be recorded reported; empty where there is none.
std::string missing_kernels(const ImportSummary& summary) {
    for (const ProcessSummary& process : summary.processes) {
        if (lost_its_records(process))
            return process.error_text.empty() ? "every call to CUPTI succeeded" : process.error_text;
    }
    return {};
}

/// What a second run measured, where there was one.
void read_counters(const fs::path& run_folder, KernelTraffic& traffic) {
    const fs::path folder = run_folder / kTrafficFolder;
    std::error_code error;
    if (!fs::is_directory(folder, error)) return;
    traffic.expect_counters();
    const auto files = recordings_in(folder);
    if (!files) return;
    for (const RecordingFile& file : *files) {
        const auto mapped = MappedFile::open(file.path);
        if (!mapped) continue;
        if (const auto reader = wire::Reader::over(mapped->contents()))
            traffic.add_counters(*reader, file.process_id);
    }
}

void describe(const TrafficSummary& traffic, trace::TraceWriter& trace) {
    if (!traffic.asked_for) return;
    trace.set_meta(trace::meta_key::kTraffic, traffic.joined_kernels > 0 ? "measured" : "unavailable");
    if (!traffic.error_text.empty()) trace.set_meta(trace::meta_key::kTrafficError, traffic.error_text);
}

/// By then the record of a kernel has reached the disk, unless kernels take seconds.
constexpr std::int64_t kLongestWayToDisk_ns = 2'000'000'000;

/// Killed so soon after its first launch that no record is owed.
bool was_cut_off(const ProcessSummary& process) {
    return !process.ended && process.subscribed && process.cupti_error == 0 && !process.flush_hangs &&
           process.lost_bytes == 0 && process.launched_for_ns < kLongestWayToDisk_ns;
}

} // namespace

bool lost_its_records(const ProcessSummary& process) {
    return process.reached_cuda && process.kernels_recorded + process.graph_launches == 0 &&
           (process.launches_called > 0 || !process.subscribed) && !process.reached_size_limit &&
           !was_cut_off(process);
}

Result<ImportSummary> import_run_folder(const fs::path& run_folder, const fs::path& trace_path,
                                        const RunFacts& facts) {
    DEEPJIT_TRY(const std::vector<RecordingFile> files, recordings_in(run_folder));
    DEEPJIT_TRY(trace::TraceWriter trace, trace::TraceWriter::create(trace_path));
    for (const auto& [key, value] : facts.meta)
        trace.set_meta(key, value);

    ImportSummary summary;
    ModuleImages images(trace, run_folder);
    CapturedBuffers captures(trace, run_folder);
    KernelTraffic traffic(trace);
    read_counters(run_folder, traffic);
    std::map<std::uint32_t, std::uint32_t> last_correlation_ids; ///< by process, over its images
    bool holds_recording = false;
    std::optional<Diagnostic> foreign;
    for (const RecordingFile& file : files) {
        const auto mapped = MappedFile::open(file.path);
        if (!mapped) {
            sum_up(summary, unreadable(file, mapped.error()));
            continue;
        }
        const auto reader = wire::Reader::over(mapped->contents());
        if (!reader) {
            if (!foreign && !begins_as_recording(mapped->contents()))
                foreign = not_a_recording(file, reader.error());
            sum_up(summary, unreadable(file, reader.error()));
            continue;
        }
        holds_recording = true;
        WireProcess process(trace, images, captures, file.process_id, last_correlation_ids[file.process_id]);
        process.join_traffic(traffic);
        process.import(*reader);
        auto& last = last_correlation_ids[file.process_id];
        last = std::max(last, process.last_correlation_id());
        sum_up(summary, process.summary());
        summary.memory_ops += process.memory_ops();
        summary.host_calls += process.host_calls();
        summary.unresolved_references += process.unresolved_references();
    }
    if (foreign && !holds_recording) return *foreign;
    summary.modules = images.summary();
    summary.traffic = traffic.finish();
    const bool selects_part = std::any_of(summary.processes.begin(), summary.processes.end(),
                                          [](const auto& process) { return process.selects_part; });
    if (selects_part) trace.set_meta(trace::meta_key::kSelectsPart, "1");
    summary.traffic.timed_a_part = selects_part;
    describe(summary.traffic, trace);
    summary.capture = captures.summary();
    if (const std::string error = missing_kernels(summary); !error.empty())
        trace.set_meta(trace::meta_key::kTracerError, error);
    DEEPJIT_CHECK(trace.finish());
    return summary;
}

} // namespace deepjit::ingest
