#pragma once

#include "src/base/result.hpp"
#include "src/wire/records.hpp"

#include <cstring>
#include <optional>
#include <string_view>

namespace deepjit::wire {

/// One record as it lies in the file.
struct RecordView {
    RecordKind kind{};
    std::uint8_t flags = 0;
    std::uint32_t thread_id = 0;
    std::string_view bytes; ///< header, fields and tail; valid as long as the reader's contents

    /// The fields, or nothing where the record is of another kind or too short for them.
    template <WireRecord Record>
    std::optional<Record> as() const {
        if (kind != Record::kKind || bytes.size() < sizeof(Record)) return std::nullopt;
        Record record;
        std::memcpy(&record, bytes.data(), sizeof(Record));
        return record;
    }
    /// What follows the fields of `Record`. Call only after as<Record>() answered.
    template <WireRecord Record>
    std::string_view tail() const {
        return bytes.substr(sizeof(Record));
    }
};

/// Walks the records of a wire file held in memory. Bytes that no checksum vouches for, such as a tail cut
/// by SIGKILL or a damaged block, are passed over and counted; nothing else is lost.
class Reader {
  public:
    /// Refuses what is not a wire file or is of another format version. `contents` must outlive the reader.
    static Result<Reader> over(std::string_view contents);

    /// The next record, or nothing at the end.
    std::optional<RecordView> next();

    const FileHeader& file_header() const { return file_header_; }
    /// Bytes passed over so far; complete once next() has returned nothing.
    std::size_t lost_bytes() const { return lost_bytes_; }

  private:
    Reader(std::string_view contents, const FileHeader& header)
        : contents_(contents), position_(header.header_bytes), file_header_(header) {}
    bool enter_next_block();

    std::string_view contents_;
    std::size_t position_ = 0; ///< where the next block starts
    std::string_view payload_; ///< what is left of the current block
    std::uint32_t thread_id_ = 0;
    std::size_t lost_bytes_ = 0;
    FileHeader file_header_;
};

} // namespace deepjit::wire
