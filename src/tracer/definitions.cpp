#include "src/tracer/definitions.hpp"

#include "src/tracer/recording.hpp"

#include <cstddef>
#include <new>
#include <type_traits>

namespace deepjit::tracer {
namespace {

constinit Definitions the_definitions;

static_assert(std::has_unique_object_representations_v<KernelIdentity>);

XXH128_hash_t hash_of(std::string_view bytes, std::uint64_t seed = 0) noexcept {
    return XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
}

} // namespace

Definitions& definitions() noexcept {
    return the_definitions;
}

std::uint32_t Definitions::string_id_of(std::string_view text) noexcept {
    const auto entry = strings_.find_or_add(hash_of(text));
    if (entry.is_new) {
        wire::String record;
        record.string_id = entry.id;
        recording().define(record, text);
    }
    return entry.id;
}

std::uint32_t Definitions::config_id_of(const KernelIdentity& identity,
                                        std::string_view mangled_name) noexcept {
    const auto entry = configs_.find_or_add(XXH3_128bits(&identity, offsetof(KernelIdentity, device_id)));
    if (entry.is_new) {
        wire::KernelConfig record;
        record.config_id = entry.id;
        record.name_id = string_id_of(mangled_name);
        std::memcpy(record.grid, identity.grid, sizeof record.grid);
        std::memcpy(record.block, identity.block, sizeof record.block);
        record.registers_per_thread = identity.registers_per_thread;
        record.static_shared_bytes = identity.static_shared_bytes;
        record.dynamic_shared_bytes = identity.dynamic_shared_bytes;
        record.local_bytes_per_thread = identity.local_bytes_per_thread;
        recording().define(record);
    }
    return entry.id;
}

std::uint32_t Definitions::site_id_of(KernelIdentity identity, std::string_view mangled_name) noexcept {
    // By content: CUPTI may give the address of an unloaded module's name to another kernel's.
    identity.name_hash = XXH3_64bits(mangled_name.data(), mangled_name.size());
    const XXH128_hash_t hash = XXH3_128bits(&identity, sizeof identity);
    Guard guard(mutex_);
    const auto entry = sites_.find_or_add(hash);
    if (entry.is_new) {
        wire::KernelSite record;
        record.site_id = entry.id;
        record.config_id = config_id_of(identity, mangled_name);
        record.device_id = identity.device_id;
        record.context_id = identity.context_id;
        record.stream_id = identity.stream_id;
        record.graph_id = identity.graph_id;
        record.graph_node_id = identity.graph_node_id;
        recording().define(record);
    }
    return entry.id;
}

std::uint32_t Definitions::layout_id_of(std::string_view parameters) noexcept {
    Guard guard(mutex_);
    const auto entry = layouts_.find_or_add(hash_of(parameters));
    if (entry.is_new) {
        wire::ArgumentsLayout record;
        record.layout_id = entry.id;
        recording().define(record, parameters);
    }
    return entry.id;
}

std::uint32_t Definitions::arguments_id_of(ThreadState& state, std::uint32_t layout_id,
                                           std::string_view bytes) noexcept {
    const XXH128_hash_t hash = hash_of(bytes, layout_id);
    auto& known = state.known_arguments[hash.low64 % ThreadState::kKnownArguments];
    if (known.id != 0 && XXH128_isEqual(known.hash, hash)) return known.id;
    Guard guard(mutex_);
    const auto entry = arguments_.find_or_add(hash);
    if (entry.is_new) {
        wire::Arguments record;
        record.arguments_id = entry.id;
        record.layout_id = layout_id;
        recording().define(record, bytes);
    }
    known = {hash, entry.id};
    return entry.id;
}

std::uint32_t Definitions::name_id_of(ThreadState& state, std::string_view text) noexcept {
    text = text.substr(0, wire::kMaxTailBytes);
    const XXH128_hash_t hash = hash_of(text);
    auto& known = state.known_names[hash.low64 % ThreadState::kKnownNames];
    if (known.id != 0 && XXH128_isEqual(known.hash, hash)) return known.id;
    Guard guard(mutex_);
    known = {hash, string_id_of(text)};
    return known.id;
}

void Definitions::forget_parent() noexcept {
    new (&mutex_) Mutex;
    for (IdTable* table : {&strings_, &configs_, &sites_, &layouts_, &arguments_})
        table->clear();
}

} // namespace deepjit::tracer
