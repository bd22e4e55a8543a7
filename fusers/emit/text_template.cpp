#include "fusers/emit/text_template.hpp"

#include <cassert>
#include <cctype>

namespace deepjit::emit {

namespace {

bool is_placeholder_character(char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// End of the placeholder that begins at `begin` (behind its second '@'), or npos where none begins.
std::size_t placeholder_end(std::string_view text, std::size_t begin) {
    std::size_t end = begin + 1;
    while (end < text.size() && is_placeholder_character(text[end]))
        ++end;
    return end < text.size() && text[end] == '@' && end > begin + 1 ? end + 1 : std::string_view::npos;
}

} // namespace

std::string fill_template(std::string_view text, const Substitutions& values) {
    std::string filled;
    std::size_t place = 0;
    while (place < text.size()) {
        const std::size_t begin = text.find('@', place);
        if (begin == std::string_view::npos) break;
        filled += text.substr(place, begin - place);
        const std::size_t end = placeholder_end(text, begin);
        if (end == std::string_view::npos) {
            filled += '@';
            place = begin + 1;
            continue;
        }
        const auto value = values.find(text.substr(begin + 1, end - begin - 2));
        assert(value != values.end());
        filled += value->second;
        place = end;
        const bool alone_on_line =
            (begin == 0 || text[begin - 1] == '\n') && place < text.size() && text[place] == '\n';
        if (alone_on_line && value->second.empty()) ++place;
    }
    filled += text.substr(place);
    return filled;
}

} // namespace deepjit::emit
