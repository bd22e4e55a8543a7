#include "fusers/verify/device_benchmark.hpp"

#include "fusers/verify/original_side.hpp"
#include "fusers/verify/repeated_upload.hpp"
#include "fusers/verify/test_cases.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace deepjit::verify {

namespace {

using graph::ChainGraph;
using graph::Tensor;
using graph::TensorIndex;

constexpr std::int64_t kBufferSetLimitBytes = 2ll << 30; ///< of all sets together
constexpr int kFewestSamples = 7;                        ///< six is the least that has a 95 % interval

std::int64_t bytes_of(const Tensor& tensor) {
    return tensor.element_count() * static_cast<std::int64_t>(graph::size_bytes(tensor.dtype));
}

std::int64_t compulsory_bytes(const ChainGraph& chain) {
    std::int64_t bytes = 0;
    for (const TensorIndex index : chain.inputs)
        bytes += bytes_of(chain.tensor(index));
    for (const TensorIndex index : chain.outputs)
        bytes += bytes_of(chain.tensor(index));
    return bytes;
}

/// Memory for the calls of a sample: sets of inputs and outputs, and scratch that all calls share.
class BufferSets {
  public:
    static Result<BufferSets> allocate(const ChainGraph& chain,
                                       const std::vector<const KernelSequence*>& sequences, int count) {
        BufferSets sets;
        TensorAddresses shared;
        for (const KernelSequence* sequence : sequences)
            for (const TensorIndex index : sequence->scratch_tensors())
                if (!shared.contains(index))
                    DEEPJIT_CHECK(sets.add_tensor(chain.tensor(index), index, shared));

        const TestCase random = test_cases(chain).front();
        for (int i = 0; i < count; ++i) {
            TensorAddresses addresses = shared;
            for (std::size_t input = 0; input < chain.inputs.size(); ++input) {
                const Tensor& tensor = chain.tensor(chain.inputs[input]);
                DEEPJIT_CHECK(sets.add_tensor(tensor, chain.inputs[input], addresses));
                DEEPJIT_CHECK(upload_repeated(sets.buffers_.back(), 0, tensor, random.inputs[input]));
            }
            for (const TensorIndex index : chain.outputs)
                DEEPJIT_CHECK(sets.add_tensor(chain.tensor(index), index, addresses));
            sets.addresses_.push_back(std::move(addresses));
        }
        return sets;
    }

    const TensorAddresses& of_call(int call) const {
        return addresses_[static_cast<std::size_t>(call) % addresses_.size()];
    }

  private:
    Result<void> add_tensor(const Tensor& tensor, TensorIndex index, TensorAddresses& addresses) {
        DEEPJIT_TRY(auto buffer, gpu::DeviceBuffer::allocate(static_cast<std::size_t>(bytes_of(tensor))));
        addresses[index] = buffer.address();
        buffers_.push_back(std::move(buffer));
        return {};
    }

    std::vector<gpu::DeviceBuffer> buffers_;
    std::vector<TensorAddresses> addresses_;
};

/// A set for each call where they fit, so that no call finds its data in L2.
int cold_set_count(const ChainGraph& chain, int calls) {
    const std::int64_t fitting = kBufferSetLimitBytes / std::max<std::int64_t>(compulsory_bytes(chain), 1);
    return static_cast<int>(std::clamp<std::int64_t>(fitting, 1, calls));
}

/// The stream, the events and the buffer that displaces L2.
class Stopwatch {
  public:
    static Result<Stopwatch> create(const gpu::Context& context) {
        DEEPJIT_TRY(auto stream, gpu::Stream::create());
        DEEPJIT_TRY(auto begin, gpu::Event::create());
        DEEPJIT_TRY(auto end, gpu::Event::create());
        const auto flush_bytes =
            static_cast<std::size_t>(std::max<std::int64_t>(context.device().l2_bytes, 1 << 20)) * 2;
        DEEPJIT_TRY(auto flush, gpu::DeviceBuffer::allocate(flush_bytes));
        return Stopwatch(context, std::move(stream), std::move(begin), std::move(end), std::move(flush));
    }

    gpu::Stream& stream() { return stream_; }

    /// Device time of what `enqueue` puts into the stream. The device is idle at the start, so that the
    /// host's share of a stream of launches counts.
    Result<double> time_ns(L2State l2, const std::function<Result<void>()>& enqueue) {
        if (l2 == L2State::Cold) DEEPJIT_CHECK(flush_.fill(0));
        DEEPJIT_CHECK(context_->synchronize());
        DEEPJIT_CHECK(begin_.record(stream_));
        DEEPJIT_CHECK(enqueue());
        DEEPJIT_CHECK(end_.record(stream_));
        DEEPJIT_CHECK(end_.synchronize());
        return end_.nanoseconds_since(begin_);
    }

  private:
    Stopwatch(const gpu::Context& context, gpu::Stream stream, gpu::Event begin, gpu::Event end,
              gpu::DeviceBuffer flush)
        : context_(&context), stream_(std::move(stream)), begin_(std::move(begin)), end_(std::move(end)),
          flush_(std::move(flush)) {}

    const gpu::Context* context_;
    gpu::Stream stream_;
    gpu::Event begin_;
    gpu::Event end_;
    gpu::DeviceBuffer flush_;
};

Result<void> enqueue_calls(const gpu::Stream& stream, const KernelSequence& sequence, const BufferSets& sets,
                           int calls) {
    for (int call = 0; call < calls; ++call)
        DEEPJIT_CHECK(sequence.enqueue(stream, sets.of_call(call)));
    return {};
}

Result<gpu::GraphExec> graph_of_calls(gpu::Stream& stream, const KernelSequence& sequence,
                                      const BufferSets& sets, int calls) {
    DEEPJIT_CHECK(stream.begin_capture());
    auto enqueued = enqueue_calls(stream, sequence, sets, calls);
    auto graph = stream.end_capture(); // also after a failure: the stream must not stay in capture
    if (!enqueued) return enqueued.error();
    if (!graph) return graph.error();
    DEEPJIT_CHECK(graph->upload(stream));
    return graph;
}

using Enqueue = std::function<Result<void>()>;

/// Samples of each way, one of each a round, per call.
Result<std::vector<Estimate>> interleave(Stopwatch& stopwatch, L2State l2, const std::vector<Enqueue>& ways,
                                         const BenchmarkOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    const auto out_of_time = [&] {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        return elapsed.count() > options.seconds_per_state;
    };
    for (const Enqueue& way : ways)
        DEEPJIT_CHECK(stopwatch.time_ns(l2, way)); // warm-up
    std::vector<std::vector<double>> samples(ways.size());
    for (int round = 0; round < options.rounds; ++round) {
        if (round >= kFewestSamples && out_of_time()) break;
        for (std::size_t way = 0; way < ways.size(); ++way) {
            DEEPJIT_TRY(const double total_ns, stopwatch.time_ns(l2, ways[way]));
            samples[way].push_back(total_ns / options.calls_per_sample);
        }
    }
    std::vector<Estimate> estimates;
    for (auto& of_way : samples)
        estimates.push_back(estimate_median(std::move(of_way)));
    return estimates;
}

Result<FourWay> measure_state(Stopwatch& stopwatch, const ChainGraph& chain, const KernelSequence& originals,
                              const KernelSequence& fused, L2State l2, const BenchmarkOptions& options) {
    const int calls = options.calls_per_sample;
    const int set_count = l2 == L2State::Cold ? cold_set_count(chain, calls) : 1;
    DEEPJIT_TRY(const auto sets, BufferSets::allocate(chain, {&originals, &fused}, set_count));
    gpu::Stream& stream = stopwatch.stream();
    DEEPJIT_TRY(const auto original_graph, graph_of_calls(stream, originals, sets, calls));
    DEEPJIT_TRY(const auto fused_graph, graph_of_calls(stream, fused, sets, calls));

    const std::vector<Enqueue> ways = {
        [&] { return enqueue_calls(stream, originals, sets, calls); },
        [&] { return original_graph.launch(stream); },
        [&] { return enqueue_calls(stream, fused, sets, calls); },
        [&] { return fused_graph.launch(stream); },
    };
    DEEPJIT_TRY(const auto estimates, interleave(stopwatch, l2, ways, options));
    return FourWay{l2, estimates[0], estimates[1], estimates[2], estimates[3]};
}

} // namespace

Result<Benchmark> benchmark_four_ways(const gpu::Context& context, const ChainGraph& chain,
                                      const KernelSequence& originals, const KernelSequence& fused,
                                      const BenchmarkOptions& options) {
    DEEPJIT_TRY(auto stopwatch, Stopwatch::create(context));
    Benchmark benchmark;
    benchmark.device_name = context.device().name;
    benchmark.original_side = kOriginalSideLabel;
    benchmark.original_launches = static_cast<int>(originals.launch_count());
    benchmark.fused_launches = static_cast<int>(fused.launch_count());
    benchmark.calls_per_sample = options.calls_per_sample;
    benchmark.buffer_sets = cold_set_count(chain, options.calls_per_sample);
    benchmark.bytes_per_call = compulsory_bytes(chain);
    for (const L2State l2 : {L2State::Cold, L2State::Hot}) {
        DEEPJIT_TRY(auto state, measure_state(stopwatch, chain, originals, fused, l2, options));
        benchmark.states.push_back(state);
    }
    benchmark.measured = true;
    return benchmark;
}

Result<std::vector<Estimate>> time_variants(const gpu::Context& context, const ChainGraph& chain,
                                            const std::vector<const KernelSequence*>& variants,
                                            const BenchmarkOptions& options) {
    DEEPJIT_TRY(auto stopwatch, Stopwatch::create(context));
    const int calls = options.calls_per_sample;
    DEEPJIT_TRY(const auto sets, BufferSets::allocate(chain, variants, cold_set_count(chain, calls)));
    std::vector<gpu::GraphExec> graphs;
    for (const KernelSequence* variant : variants) {
        DEEPJIT_TRY(auto graph, graph_of_calls(stopwatch.stream(), *variant, sets, calls));
        graphs.push_back(std::move(graph));
    }
    std::vector<Enqueue> ways;
    for (const gpu::GraphExec& graph : graphs)
        ways.emplace_back([&graph, &stopwatch] { return graph.launch(stopwatch.stream()); });
    return interleave(stopwatch, L2State::Cold, ways, options);
}

} // namespace deepjit::verify
