#pragma once

#include <cstdint>

#include <cupti.h>

namespace deepjit::tracer {

/// The functions of CUPTI that the tracer calls, found at run time. Those marked optional may be null: they
/// are missing from older versions.
struct CuptiLibrary {
    void* handle = nullptr; ///< of the library, null where none was opened
    decltype(&cuptiGetVersion) get_version = nullptr;
    decltype(&cuptiGetResultString) get_result_string = nullptr;
    decltype(&cuptiSubscribe) subscribe = nullptr;
    decltype(&cuptiEnableCallback) enable_callback = nullptr;
    decltype(&cuptiActivityRegisterCallbacks) activity_register_callbacks = nullptr;
    decltype(&cuptiActivityEnable) activity_enable = nullptr;
    decltype(&cuptiActivityDisable) activity_disable = nullptr;
    decltype(&cuptiActivityFlushAll) activity_flush_all = nullptr;
    decltype(&cuptiActivityGetNextRecord) activity_get_next_record = nullptr;
    decltype(&cuptiActivityGetNumDroppedRecords) activity_get_num_dropped_records = nullptr;
    decltype(&cuptiActivityEnableDriverApi) activity_enable_driver_api = nullptr; ///< optional, 12.5
    decltype(&cuptiSubscribe_v2) subscribe_v2 = nullptr;                          ///< optional, 13.0
    decltype(&cuptiGetGraphNodeId) get_graph_node_id = nullptr;                   ///< optional, 11.1
    decltype(&cuptiGetDeviceId) get_device_id = nullptr;                          ///< optional
    decltype(&cuptiGetGraphExecId) get_graph_exec_id = nullptr;                   ///< optional
    decltype(&cuptiGetContextId) get_context_id = nullptr;                        ///< optional

    std::uint32_t version = 0; ///< CUPTI_API_VERSION of the library

    /// Opens the library named by $DEEPJIT_CUPTI_LIBRARY, else the copy that is already in the process (two
    /// copies do not work side by side), else that of a CUDA Toolkit ($CUDA_HOME, $CUDA_PATH,
    /// /usr/local/cuda, /usr/local/cuda-13.x no newer than the driver), else whichever the loader finds.
    /// CUPTI 13 needs a driver of CUDA 13, so an older driver gets CUPTI 12. On failure false, and `reason`
    /// holds a sentence.
    bool open(int driver_version, char* reason, std::size_t reason_bytes) noexcept;

    /// Subscribes; where another tool has, and CUPTI (13.0) tells which, its name goes to `owner`.
    CUptiResult subscribe_or_name_owner(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                        char (&owner)[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN]) const noexcept;

    /// Of the library that was opened.
    const char* path() const noexcept;

    /// CUPTI's own name of a result, such as "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES".
    const char* result_name(CUptiResult result) const noexcept;

  private:
    bool resolve(void* library) noexcept;
};

} // namespace deepjit::tracer
