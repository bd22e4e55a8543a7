#include "src/gpu/stream.hpp"

#include "src/gpu/driver_functions.hpp"

#include <utility>

namespace deepjit::gpu {

Result<Stream> Stream::create() {
    Stream stream;
    DEEPJIT_CHECK(DEEPJIT_CU(cuStreamCreate, &stream.handle_, static_cast<unsigned>(CU_STREAM_NON_BLOCKING)));
    return stream;
}

Stream::Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
}

Stream::~Stream() {
    if (handle_ != nullptr) (void)DEEPJIT_CU(cuStreamDestroy, handle_);
}

Result<void> Stream::synchronize() const {
    return DEEPJIT_CU(cuStreamSynchronize, handle_);
}

Result<void> Stream::begin_capture() {
    return DEEPJIT_CU(cuStreamBeginCapture, handle_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

Result<GraphExec> Stream::end_capture() {
    GraphExec graph;
    DEEPJIT_CHECK(DEEPJIT_CU(cuStreamEndCapture, handle_, &graph.graph_));
    DEEPJIT_CHECK(
        DEEPJIT_CU(cuGraphGetNodes, graph.graph_, static_cast<CUgraphNode*>(nullptr), &graph.node_count_));
    DEEPJIT_CHECK(DEEPJIT_CU(cuGraphInstantiate, &graph.handle_, graph.graph_, 0ULL));
    return graph;
}

Result<Event> Event::create() {
    Event event;
    DEEPJIT_CHECK(DEEPJIT_CU(cuEventCreate, &event.handle_, static_cast<unsigned>(CU_EVENT_DEFAULT)));
    return event;
}

Event::Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
}

Event::~Event() {
    if (handle_ != nullptr) (void)DEEPJIT_CU(cuEventDestroy, handle_);
}

Result<void> Event::record(const Stream& stream) {
    return DEEPJIT_CU(cuEventRecord, handle_, stream.handle());
}

Result<void> Event::synchronize() const {
    return DEEPJIT_CU(cuEventSynchronize, handle_);
}

Result<double> Event::nanoseconds_since(const Event& start) const {
    float milliseconds = 0;
    DEEPJIT_CHECK(DEEPJIT_CU(cuEventElapsedTime, &milliseconds, start.handle_, handle_));
    return static_cast<double>(milliseconds) * 1e6;
}

GraphExec::GraphExec(GraphExec&& other) noexcept
    : graph_(std::exchange(other.graph_, nullptr)), handle_(std::exchange(other.handle_, nullptr)),
      node_count_(other.node_count_) {}

GraphExec& GraphExec::operator=(GraphExec&& other) noexcept {
    std::swap(graph_, other.graph_);
    std::swap(handle_, other.handle_);
    std::swap(node_count_, other.node_count_);
    return *this;
}

GraphExec::~GraphExec() {
    if (handle_ != nullptr) (void)DEEPJIT_CU(cuGraphExecDestroy, handle_);
    if (graph_ != nullptr) (void)DEEPJIT_CU(cuGraphDestroy, graph_);
}

Result<void> GraphExec::upload(const Stream& stream) const {
    return DEEPJIT_CU(cuGraphUpload, handle_, stream.handle());
}

Result<void> GraphExec::launch(const Stream& stream) const {
    return DEEPJIT_CU(cuGraphLaunch, handle_, stream.handle());
}

Result<void> launch(const Function& function, const LaunchConfig& config, const Stream& stream,
                    void* const* arguments) {
    const auto& [grid, block, dynamic_shared_bytes, cooperative] = config;
    // The driver only reads the array; its parameter lacks the const.
    void** const values = const_cast<void**>(arguments);
    if (cooperative)
        return DEEPJIT_CU(cuLaunchCooperativeKernel, function.handle(), grid[0], grid[1], grid[2], block[0],
                          block[1], block[2], dynamic_shared_bytes, stream.handle(), values);
    return DEEPJIT_CU(cuLaunchKernel, function.handle(), grid[0], grid[1], grid[2], block[0], block[1],
                      block[2], dynamic_shared_bytes, stream.handle(), values, static_cast<void**>(nullptr));
}

Result<double> timed_launch_ns(const Function& function, const LaunchConfig& config, const Stream& stream,
                               void* const* arguments) {
    DEEPJIT_TRY(Event start, Event::create());
    DEEPJIT_TRY(Event end, Event::create());
    DEEPJIT_CHECK(start.record(stream));
    DEEPJIT_CHECK(launch(function, config, stream, arguments));
    DEEPJIT_CHECK(end.record(stream));
    DEEPJIT_CHECK(stream.synchronize());
    return end.nanoseconds_since(start);
}

} // namespace deepjit::gpu
