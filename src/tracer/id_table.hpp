#pragma once

#include "src/wire/encoder.hpp"

#include <cstdint>
#include <cstdlib>

namespace deepjit::tracer {

/// Gives each distinct content an id, told apart by its 128-bit hash. Ids start at 1 and are never reused.
/// Bounded: when full it forgets everything, and contents seen again get new ids; that costs bytes in the
/// file, never memory in the target. Not thread-safe.
class IdTable {
  public:
    explicit constexpr IdTable(std::uint32_t max_entries) noexcept : max_entries_(max_entries) {}

    struct Entry {
        std::uint32_t id = 0; ///< 0: out of memory
        bool is_new = false;
    };
    Entry find_or_add(XXH128_hash_t hash) noexcept {
        if (used_ >= capacity_ / 2 && !grow()) return {};
        Slot& slot = slot_of(hash);
        if (slot.id != 0) return {slot.id, false};
        slot = {hash, ++last_id_};
        ++used_;
        return {slot.id, true};
    }
    /// The id of a known content, else 0.
    std::uint32_t find(XXH128_hash_t hash) noexcept { return capacity_ == 0 ? 0 : slot_of(hash).id; }
    void clear() noexcept {
        if (capacity_ != 0) std::memset(static_cast<void*>(slots_), 0, capacity_ * sizeof(Slot));
        used_ = 0;
    }

  private:
    struct Slot {
        XXH128_hash_t hash;
        std::uint32_t id;
    };

    Slot& slot_of(XXH128_hash_t hash) noexcept {
        std::uint32_t index = static_cast<std::uint32_t>(hash.low64) & (capacity_ - 1);
        while (slots_[index].id != 0 && !XXH128_isEqual(slots_[index].hash, hash)) {
            index = (index + 1) & (capacity_ - 1);
        }
        return slots_[index];
    }

    bool grow() noexcept {
        if (capacity_ != 0 && used_ >= max_entries_) {
            clear();
            return true;
        }
        const std::uint32_t old_capacity = capacity_;
        Slot* const old_slots = slots_;
        const std::uint32_t capacity = old_capacity == 0 ? 256 : old_capacity * 2;
        auto* const slots = static_cast<Slot*>(std::calloc(capacity, sizeof(Slot)));
        if (slots == nullptr) return false;
        slots_ = slots;
        capacity_ = capacity;
        for (std::uint32_t i = 0; i < old_capacity; ++i) {
            if (old_slots[i].id != 0) slot_of(old_slots[i].hash) = old_slots[i];
        }
        std::free(old_slots);
        return true;
    }

    std::uint32_t max_entries_;
    std::uint32_t capacity_ = 0; ///< a power of two
    std::uint32_t used_ = 0;
    std::uint32_t last_id_ = 0;
    Slot* slots_ = nullptr;
};

} // namespace deepjit::tracer
