#include "tests/diff/text_trace.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace deepjit::tests {
namespace {

// A start of 0 would mean a time that CUPTI could not take.
constexpr std::int64_t kEpochNs = 1'000'000'000;

std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    std::string word;
    bool quoted = false;
    bool begun = false;
    for (const char c : line) {
        if (c == '#' && !quoted) break;
        if (c == '"') {
            quoted = !quoted;
            begun = true;
        } else if ((c == ' ' || c == '\t') && !quoted) {
            if (begun || !word.empty()) words.push_back(word);
            word.clear();
            begun = false;
        } else {
            word += c;
        }
    }
    if (begun || !word.empty()) words.push_back(word);
    return words;
}

class Reader {
  public:
    model::TraceData read(std::string_view text) {
        std::istringstream stream{std::string(text)};
        std::vector<std::string> lines;
        for (std::string line; std::getline(stream, line);)
            lines.push_back(line);
        std::size_t next = 0;
        read_lines(lines, next, 0, false);
        data_.devices.push_back({0, "Test GPU", "", 9, 0, 132, 50 << 20, 0, 0});
        data_.source = "text";
        data_.index();
        return std::move(data_);
    }

  private:
    void read_lines(const std::vector<std::string>& lines, std::size_t& next, double shift_us,
                    bool in_block) {
        for (; next < lines.size(); ++next) {
            line_ = next + 1;
            words_ = words_of(lines[next]);
            at_ = 0;
            if (words_.empty()) continue;
            const std::string kind = take();
            if (kind == "}" && in_block) return;
            if (kind == "repeat") {
                const int times = std::stoi(take());
                expect("every");
                const double period_us = std::stod(take());
                expect("{");
                const std::size_t body = next + 1;
                for (int i = 0; i < times; ++i) {
                    next = body;
                    read_lines(lines, next, shift_us + i * period_us, true);
                }
                continue;
            }
            shift_us_ = shift_us;
            read_record(kind);
            if (at_ != words_.size()) fail("'" + words_[at_] + "' is not understood");
        }
        if (in_block) fail("a block is not closed");
    }

    void read_record(const std::string& kind) {
        if (kind == "kernel") return read_kernel();
        if (kind == "copy") return read_copy();
        if (kind == "call") return read_call();
        if (kind == "alloc") return read_allocation();
        if (kind == "overhead") {
            trace::Overhead overhead;
            overhead.kind = take();
            read_times(overhead.start_ns, overhead.end_ns);
            data_.overheads.push_back(overhead);
            return;
        }
        if (kind == "calibrate") {
            const std::map<std::string, std::optional<double>*> fields = {
                {"tracer_launch", &data_.calibration.tracer_launch_ns},
                {"graph_node", &data_.calibration.graph_node_ns},
                {"graph_intercept", &data_.calibration.graph_intercept_ns},
                {"stream_launch", &data_.calibration.stream_launch_ns}};
            const std::string field = take();
            if (fields.count(field) == 0) fail("no constant " + field);
            *fields.at(field) = std::stod(take());
            return;
        }
        fail("'" + kind + "' is no record");
    }

    void read_kernel() {
        trace::Kernel kernel;
        const std::string name = take();
        kernel.kernel_id = ++last_id_;
        kernel.config_id = config_for(name);
        read_times(kernel.start_ns, kernel.end_ns);
        kernel.correlation_id = ++last_correlation_;
        std::uint32_t thread = 1;
        std::optional<std::pair<double, double>> call;
        while (at_ < words_.size()) {
            const std::string option = take();
            if (option == "stream") {
                kernel.stream_id = static_cast<std::uint32_t>(std::stoul(take()));
            } else if (option == "graph") {
                kernel.graph_id = static_cast<std::uint32_t>(std::stoul(take()));
                kernel.graph_node_id = static_cast<std::uint64_t>(kernel.kernel_id);
                expect("launch");
                // The launch number is told by the shift too, so that a repeated block launches anew.
                kernel.correlation_id = graph_correlation(take());
            } else if (option == "call") {
                const double start = std::stod(take());
                expect("for");
                call = {start, std::stod(take())};
            } else if (option == "thread") {
                thread = static_cast<std::uint32_t>(std::stoul(take()));
            } else if (option == "untimed") {
                kernel.start_ns = kernel.end_ns = 0;
            } else if (option == "args") {
                kernel.arguments_id = read_arguments();
            } else {
                fail("'" + option + "' is no part of a kernel");
            }
        }
        if (call) {
            const bool graph = kernel.graph_id != 0;
            kernel.call_id = add_call(graph ? trace::CallCategory::GraphLaunch : trace::CallCategory::Launch,
                                      graph ? "cuGraphLaunch" : "cuLaunchKernel", call->first, call->second,
                                      thread, kernel.correlation_id);
        }
        data_.kernels.push_back(kernel);
    }

    void read_copy() {
        const std::map<std::string, trace::MemoryOpKind> kinds = {
            {"host-to-device", trace::MemoryOpKind::HostToDevice},
            {"device-to-host", trace::MemoryOpKind::DeviceToHost},
            {"device-to-device", trace::MemoryOpKind::DeviceToDevice},
            {"memset", trace::MemoryOpKind::Memset}};
        trace::MemoryOp op;
        const std::string kind = take();
        if (kinds.count(kind) == 0) fail("no copy is " + kind);
        op.kind = kinds.at(kind);
        op.memory_op_id = ++last_id_;
        op.correlation_id = ++last_correlation_;
        read_times(op.start_ns, op.end_ns);
        expect("bytes");
        op.bytes = std::stoll(take());
        while (at_ < words_.size()) {
            const std::string option = take();
            if (option == "from") {
                op.source_address = std::stoull(take(), nullptr, 16);
            } else if (option == "to") {
                op.destination_address = std::stoull(take(), nullptr, 16);
            } else if (option == "stream") {
                op.stream_id = static_cast<std::uint32_t>(std::stoul(take()));
            } else if (option == "pageable") {
                op.pageable = true;
            } else if (option == "call") {
                const double start = std::stod(take());
                expect("for");
                add_call(trace::CallCategory::Copy, "cuMemcpyAsync", start, std::stod(take()), 1,
                         op.correlation_id);
            } else {
                fail("'" + option + "' is no part of a copy");
            }
        }
        data_.memory_ops.push_back(op);
    }

    void read_call() {
        const std::map<std::string, trace::CallCategory> categories = {
            {"synchronise", trace::CallCategory::Synchronise},
            {"allocate", trace::CallCategory::Allocate},
            {"copy", trace::CallCategory::Copy},
            {"module-load", trace::CallCategory::ModuleLoad},
            {"event", trace::CallCategory::Event}};
        const std::string category = take();
        if (categories.count(category) == 0) fail("no call is " + category);
        const std::string api = take();
        expect("at");
        const double start = std::stod(take());
        expect("for");
        const double duration = std::stod(take());
        std::uint32_t thread = 1;
        if (at_ < words_.size()) {
            expect("thread");
            thread = static_cast<std::uint32_t>(std::stoul(take()));
        }
        add_call(categories.at(category), api, start, duration, thread, ++last_correlation_);
    }

    void read_allocation() {
        trace::Allocation allocation;
        allocation.allocation_id = ++last_id_;
        allocation.address = std::stoull(take(), nullptr, 16);
        expect("bytes");
        allocation.bytes = std::stoull(take());
        while (at_ < words_.size()) {
            const std::string option = take();
            if (option == "at")
                allocation.start_ns = time_ns(std::stod(take()));
            else if (option == "free")
                allocation.end_ns = time_ns(std::stod(take()));
            else
                fail("'" + option + "' is no part of an allocation");
        }
        data_.allocations.push_back(allocation);
    }

    std::int64_t read_arguments() {
        trace::Arguments arguments;
        const auto append = [&](const void* value, std::size_t size) {
            while (arguments.bytes.size() % size != 0)
                arguments.bytes += '\0';
            const auto offset = static_cast<std::uint32_t>(arguments.bytes.size());
            arguments.bytes.append(static_cast<const char*>(value), size);
            return offset;
        };
        bool in_struct = false;
        while (at_ < words_.size()) {
            std::string word = take();
            const bool opens = word.front() == '[';
            if (opens) word.erase(0, 1);
            const bool closes = !word.empty() && word.back() == ']';
            if (closes) word.pop_back();
            trace::Parameter added;
            if (word.rfind("n:", 0) == 0) {
                const auto value = static_cast<std::int32_t>(std::stol(word.substr(2)));
                added = {append(&value, sizeof value), sizeof value};
            } else {
                const std::uint64_t value = std::stoull(word, nullptr, 16);
                added = {append(&value, sizeof value), sizeof value};
            }
            if (in_struct)
                arguments.parameters.back().size_bytes += added.size_bytes;
            else
                arguments.parameters.push_back(added);
            if (opens) in_struct = true;
            if (closes) in_struct = false;
        }
        const auto found = arguments_ids_.find(arguments.bytes);
        if (found != arguments_ids_.end()) return found->second;
        arguments.arguments_id = ++last_id_;
        arguments_ids_[arguments.bytes] = arguments.arguments_id;
        data_.arguments[arguments.arguments_id] = arguments;
        return arguments.arguments_id;
    }

    std::int64_t add_call(trace::CallCategory category, const std::string& api, double start_us,
                          double duration_us, std::uint32_t thread, std::uint32_t correlation) {
        for (const trace::HostCall& known : data_.host_calls)
            if (known.correlation_id == correlation)
                return known.call_id; // one call of a graph's many kernels
        trace::HostCall call;
        call.call_id = ++last_id_;
        call.category = category;
        call.api = api;
        call.start_ns = time_ns(start_us);
        call.end_ns = time_ns(start_us + duration_us);
        call.thread_id = thread;
        call.correlation_id = correlation;
        data_.host_calls.push_back(call);
        return call.call_id;
    }

    std::uint32_t graph_correlation(const std::string& launch) {
        const auto [found, added] =
            graph_correlations_.emplace(launch + "@" + std::to_string(shift_us_), last_correlation_ + 1);
        if (added) ++last_correlation_;
        return found->second;
    }

    std::int64_t config_for(const std::string& name) {
        for (const trace::KernelConfig& config : data_.kernel_configs)
            if (config.name == name) return config.config_id;
        trace::KernelConfig config;
        config.config_id = ++last_id_;
        config.name = name;
        data_.kernel_configs.push_back(config);
        return config.config_id;
    }

    void read_times(std::int64_t& start_ns, std::int64_t& end_ns) {
        expect("at");
        const double start_us = std::stod(take());
        expect("for");
        start_ns = time_ns(start_us);
        end_ns = time_ns(start_us + std::stod(take()));
    }

    std::int64_t time_ns(double microseconds) const {
        return kEpochNs + static_cast<std::int64_t>(std::llround((microseconds + shift_us_) * 1e3));
    }
    std::string take() {
        if (at_ == words_.size()) fail("the line ends too early");
        return words_[at_++];
    }
    void expect(const std::string& word) {
        if (take() != word) fail("'" + word + "' is missing");
    }
    [[noreturn]] void fail(const std::string& why) const {
        throw std::runtime_error("line " + std::to_string(line_) + ": " + why);
    }

    model::TraceData data_;
    std::vector<std::string> words_;
    std::size_t at_ = 0;
    std::size_t line_ = 0;
    double shift_us_ = 0;
    std::int64_t last_id_ = 0;
    std::uint32_t last_correlation_ = 0;
    std::map<std::string, std::int64_t> arguments_ids_;
    std::map<std::string, std::uint32_t> graph_correlations_;
};

} // namespace

model::TraceData parse_text_trace(std::string_view text) {
    return Reader().read(text);
}

} // namespace deepjit::tests
