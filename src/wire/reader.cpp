#include "src/wire/reader.hpp"

#include "src/wire/encoder.hpp"

#include <string>

namespace deepjit::wire {

Result<Reader> Reader::over(std::string_view contents) {
    FileHeader header;
    if (contents.size() < sizeof header) {
        return failure("This is not a recording: it is shorter than a file header.",
                       std::to_string(contents.size()) + " bytes.");
    }
    std::memcpy(&header, contents.data(), sizeof header);
    if (header.magic != kFileMagic)
        return failure("This is not a recording: it does not begin with the magic number.");
    if (header.version != kFormatVersion) {
        return failure("The recording has another format version than this program reads.",
                       "Version " + std::to_string(header.version) + ", expected " +
                           std::to_string(kFormatVersion) + ".",
                       "Import it with the version of deepjit that recorded it.");
    }
    if (header.header_bytes < sizeof header || header.header_bytes > contents.size()) {
        return failure("The recording is damaged: its header has an impossible size.",
                       std::to_string(header.header_bytes) + " bytes.");
    }
    return Reader(contents, header);
}

bool Reader::enter_next_block() {
    static constexpr std::string_view magic_bytes("DBLK", 4);
    while (position_ < contents_.size()) {
        const std::string_view rest = contents_.substr(position_);
        BlockHeader header;
        if (rest.size() >= sizeof header) {
            std::memcpy(&header, rest.data(), sizeof header);
            if (header.magic == kBlockMagic && header.payload_bytes <= kMaxPayloadBytes &&
                header.payload_bytes <= rest.size() - sizeof header) {
                const std::string_view payload = rest.substr(sizeof header, header.payload_bytes);
                if (checksum_of(payload.data(), payload.size()) == header.checksum) {
                    payload_ = payload;
                    thread_id_ = header.thread_id;
                    position_ += sizeof header + payload.size();
                    return true;
                }
            }
        }
        const std::size_t found = rest.find(magic_bytes, 1);
        const std::size_t passed_over = found == std::string_view::npos ? rest.size() : found;
        lost_bytes_ += passed_over;
        position_ += passed_over;
    }
    return false;
}

std::optional<RecordView> Reader::next() {
    while (true) {
        if (payload_.empty() && !enter_next_block()) return std::nullopt;
        if (payload_.empty()) continue;
        RecordHeader header;
        if (payload_.size() >= sizeof header) {
            std::memcpy(&header, payload_.data(), sizeof header);
            if (header.size_bytes >= sizeof header && header.size_bytes <= payload_.size()) {
                const RecordView record{header.kind, header.flags, thread_id_,
                                        payload_.substr(0, header.size_bytes)};
                payload_.remove_prefix(header.size_bytes);
                return record;
            }
        }
        lost_bytes_ += payload_.size();
        payload_ = {};
    }
}

} // namespace deepjit::wire
