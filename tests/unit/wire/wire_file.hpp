#pragma once

#include "src/wire/encoder.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace deepjit::wire {

/// A wire file in memory, built as the tracer writes it.
class WireFile {
  public:
    WireFile() { append_bytes(FileHeader{}); }

    template <WireRecord Record>
    WireFile& add(const Record& record, std::string_view tail = {}) {
        const std::size_t at = block_.size();
        block_.resize(at + encoded_bytes<Record>(tail.size()));
        encode(block_.data() + at, record, tail);
        return *this;
    }
    WireFile& end_block(std::uint32_t thread_id = 0) {
        append_bytes(block_header(thread_id, block_));
        contents_.append(reinterpret_cast<const char*>(block_.data()), block_.size());
        block_.clear();
        return *this;
    }
    /// What has been written so far; records after the last end_block() are not in it.
    std::string& contents() { return contents_; }

  private:
    template <class Value>
    void append_bytes(const Value& value) {
        contents_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }

    std::vector<std::byte> block_;
    std::string contents_;
};

} // namespace deepjit::wire
