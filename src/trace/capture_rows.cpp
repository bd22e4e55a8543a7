#include "src/trace/capture_rows.hpp"

#include "src/trace/compressed_blob.hpp"

#include <fmt/format.h>

namespace deepjit::trace {

Result<void> CaptureRowWriter::prepare(const Database& database) {
    DEEPJIT_TRY(contents_, database.prepare("INSERT INTO captured_contents_entry (contents_id, hash, bytes, "
                                            "compression, data) VALUES (?,?,?,?,?)"));
    DEEPJIT_TRY(buffer_, database.prepare("INSERT INTO captured_buffer_entry (process_id, after, address, "
                                          "bytes, contents_id) VALUES (?,?,?,?,?)"));
    DEEPJIT_TRY(launch_, database.prepare("INSERT INTO captured_launch_entry (process_id, step, "
                                          "correlation_id, arguments_id) VALUES (?,?,?,?)"));
    return {};
}

void CaptureRowWriter::release() {
    contents_ = Statement();
    buffer_ = Statement();
    launch_ = Statement();
}

Result<void> CaptureRowWriter::add(const CapturedBuffer& buffer) {
    std::optional<std::int64_t> contents_id;
    if (!buffer.hash.empty()) {
        const auto [entry, is_new] =
            contents_ids_.try_emplace(buffer.hash, static_cast<std::int64_t>(contents_ids_.size()) + 1);
        contents_id = entry->second;
        if (is_new) {
            const StoredBytes stored = pack(buffer.contents);
            DEEPJIT_CHECK(contents_.run(*contents_id, std::string_view(buffer.hash), buffer.contents.size(),
                                        stored.compression,
                                        Blob{stored.packed.empty() ? buffer.contents : stored.packed}));
        }
    }
    return buffer_.run(buffer.process_id, buffer.after, buffer.address, buffer.bytes, contents_id);
}

Result<void> CaptureRowWriter::add(const CapturedLaunch& launch) {
    return launch_.run(launch.process_id, launch.step, launch.correlation_id, launch.arguments_id);
}

Result<std::string> read_captured_bytes(const Database& database, const std::string& hash,
                                        const std::string& shown_as) {
    DEEPJIT_TRY(Statement row,
                database.prepare("SELECT bytes, compression, data FROM captured_contents_entry "
                                 "WHERE hash = ?"));
    row.bind(1, std::string_view(hash));
    DEEPJIT_TRY(const bool found, row.step());
    if (!found)
        return failure(fmt::format("the trace '{}' holds no captured buffer with hash {}", shown_as, hash));
    auto bytes = unpack(row.bytes(2), row.bytes(1), row.integer(0), hash);
    if (bytes) return bytes;
    return failure(fmt::format("a captured buffer of the trace '{}' is damaged", shown_as),
                   bytes.error().message, "record the trace again with 'deepjit profile --capture'");
}

} // namespace deepjit::trace
