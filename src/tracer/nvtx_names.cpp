#include "src/tracer/nvtx_names.hpp"

#include "src/tracer/clock.hpp"
#include "src/tracer/definitions.hpp"
#include "src/tracer/id_table.hpp"
#include "src/tracer/recording.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace deepjit::tracer {
namespace {

/// Kept for forked children, so that a handle means the same there. Never freed: the program holds the
/// handle.
struct KeptName {
    enum class Kind { String, Domain, Category } kind = Kind::String;
    std::uint32_t name_id = 0;
    std::uint32_t domain_id = 0;
    std::uint32_t category = 0;
    std::int64_t time_ns = 0;
    KeptName* next = nullptr;
    std::size_t bytes = 0; ///< of the text, which follows this struct
};

/// A program that goes on naming things must not grow; past this its forked children lose names.
constexpr std::uint32_t kMaxKeptNames = 1U << 14U;

constinit Mutex kept_mutex; ///< guards what follows
constinit KeptName* kept_names = nullptr;
constinit std::uint32_t kept_count = 0;
constinit IdTable kept_strings{kMaxKeptNames};

constinit std::atomic<std::uint32_t> last_domain_id{0};

void keep(KeptName name, std::string_view text) noexcept {
    Guard guard(kept_mutex);
    if (kept_count == kMaxKeptNames) return;
    const bool is_string = name.kind == KeptName::Kind::String;
    if (is_string && !kept_strings.find_or_add(XXH3_128bits(text.data(), text.size())).is_new) return;
    auto* const memory = static_cast<char*>(std::malloc(sizeof(KeptName) + text.size()));
    if (memory == nullptr) return recording().swallow_error();
    name.next = kept_names;
    name.bytes = text.size();
    kept_names = new (memory) KeptName(name);
    if (!text.empty()) std::memcpy(memory + sizeof(KeptName), text.data(), text.size());
    ++kept_count;
}

void define(const KeptName& name) noexcept {
    if (name.kind == KeptName::Kind::Domain) {
        wire::NvtxDomain record;
        record.domain_id = name.domain_id;
        record.name_id = name.name_id;
        record.time_ns = name.time_ns;
        recording().define(record);
    } else if (name.kind == KeptName::Kind::Category) {
        wire::NvtxCategory record;
        record.domain_id = name.domain_id;
        record.category = name.category;
        record.name_id = name.name_id;
        recording().define(record);
    }
}

/// Writes the bytes of `code` at `at`; returns how many.
std::size_t encode_utf8(std::uint32_t code, char* at) noexcept {
    const bool is_character = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    if (!is_character) code = 0xFFFD;
    if (code < 0x80) {
        at[0] = static_cast<char>(code);
        return 1;
    }
    const std::size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (std::size_t i = bytes - 1; i > 0; --i) {
        at[i] = static_cast<char>(0x80U | (code & 0x3FU));
        code >>= 6U;
    }
    at[0] = static_cast<char>((0xF00U >> bytes & 0xF0U) | code);
    return bytes;
}

} // namespace

std::string_view utf8_of(const wchar_t* text, std::span<char> buffer) noexcept {
    std::size_t used = 0;
    for (; text != nullptr && *text != L'\0' && buffer.size() - used >= 4; ++text)
        used += encode_utf8(static_cast<std::uint32_t>(*text), buffer.data() + used);
    return {buffer.data(), used};
}

std::uint32_t register_nvtx_string(ThreadState& state, std::string_view text) noexcept {
    text = text.substr(0, wire::kMaxTailBytes);
    KeptName name;
    name.name_id = definitions().name_id_of(state, text);
    if (name.name_id != 0) keep(name, text);
    return name.name_id;
}

std::uint32_t create_nvtx_domain(ThreadState& state, std::string_view text) noexcept {
    text = text.substr(0, wire::kMaxTailBytes);
    KeptName name;
    name.kind = KeptName::Kind::Domain;
    name.name_id = definitions().name_id_of(state, text);
    name.domain_id = last_domain_id.fetch_add(1, std::memory_order_relaxed) + 1;
    name.time_ns = now_ns();
    define(name);
    keep(name, text);
    return name.domain_id;
}

void name_nvtx_category(ThreadState& state, std::uint32_t domain_id, std::uint32_t category,
                        std::string_view text) noexcept {
    text = text.substr(0, wire::kMaxTailBytes);
    KeptName name;
    name.kind = KeptName::Kind::Category;
    name.name_id = definitions().name_id_of(state, text);
    name.domain_id = domain_id;
    name.category = category;
    define(name);
    keep(name, text);
}

void define_nvtx_again() noexcept {
    new (&kept_mutex) Mutex; // a thread that is gone may hold it
    for (const KeptName* name = kept_names; name != nullptr; name = name->next) {
        wire::String text;
        text.string_id = name->name_id;
        recording().define(text, {reinterpret_cast<const char*>(name + 1), name->bytes});
        define(*name);
    }
}

} // namespace deepjit::tracer
