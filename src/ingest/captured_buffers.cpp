#include "src/ingest/captured_buffers.hpp"

#include "src/base/hash.hpp"
#include "src/ingest/hash_text.hpp"
#include "src/ingest/mapped_file.hpp"

namespace deepjit::ingest {

void CapturedBuffers::add(const wire::CapturedBuffer& record, std::uint32_t process_id) {
    trace::CapturedBuffer row;
    row.address = record.address;
    row.bytes = record.bytes;
    row.after = (record.header.flags & wire::CapturedBuffer::kAfter) != 0;
    row.process_id = process_id;
    if ((record.header.flags & wire::CapturedBuffer::kMissing) == 0) {
        const std::string hash = hash_text(record.hash);
        const auto file =
            MappedFile::open(run_folder_ / (wire::kBufferFilePrefix + hash + wire::kImageFileExtension));
        if (file && hash_hex(file->contents()) == hash) {
            row.hash = hash;
            row.contents = file->contents();
        }
    }
    ++summary_.buffers;
    if (row.hash.empty()) ++summary_.missing_buffers;
    summary_.bytes += static_cast<std::int64_t>(row.contents.size());
    trace_.add(row);
}

void CapturedBuffers::add(const trace::CapturedLaunch& launch) {
    ++summary_.launches;
    trace_.add(launch);
}

} // namespace deepjit::ingest
