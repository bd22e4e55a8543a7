#include "src/base/text.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>

namespace deepjit {
namespace {

constexpr std::size_t kLongestDemangledSymbol = 8192;

/// Length in bytes of the valid UTF-8 sequence at the start of `bytes`, or 0.
std::size_t utf8_sequence_length(std::string_view bytes) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    std::size_t length = 0;
    unsigned code_point = 0;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
        code_point = lead & 0x1Fu;
    } else if ((lead & 0xF0u) == 0xE0) {
        length = 3;
        code_point = lead & 0x0Fu;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        code_point = lead & 0x07u;
    }
    if (length == 0 || bytes.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0u) != 0x80) return 0;
        code_point = (code_point << 6) | (byte(i) & 0x3Fu);
    }
    const bool overlong = (length == 3 && code_point < 0x800) || (length == 4 && code_point < 0x10000);
    const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
    return overlong || surrogate || code_point > 0x10FFFF ? 0 : length;
}

bool starts_code_point(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80;
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t substitution = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substitution});
        }
    }
    return row[b.size()];
}

} // namespace

std::string printable(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        const auto lead = static_cast<unsigned char>(bytes[0]);
        std::size_t length = utf8_sequence_length(bytes);
        // C1 controls (U+0080 to U+009F) move the cursor on some terminals just as C0 controls do.
        const bool c1_control = length == 2 && lead == 0xC2 && static_cast<unsigned char>(bytes[1]) < 0xA0;
        if (length == 0 || lead < 0x20 || lead == 0x7F || c1_control) {
            length = std::max<std::size_t>(length, 1);
            for (std::size_t i = 0; i < length; ++i)
                out += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[i]));
        } else {
            out.append(bytes.substr(0, length));
        }
        bytes.remove_prefix(length);
    }
    return out;
}

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string elide_middle(std::string_view text, std::size_t columns) {
    const std::size_t width = display_width(text);
    if (width <= columns) return std::string(text);
    if (columns == 0) return {};
    const std::size_t head = (columns - 1) / 2 + (columns - 1) % 2;
    const std::size_t tail = columns - 1 - head;
    const auto byte_offset = [&](std::size_t code_points) {
        std::size_t offset = 0;
        while (offset < text.size()) {
            if (starts_code_point(text[offset])) {
                if (code_points == 0) break;
                --code_points;
            }
            ++offset;
        }
        return offset;
    };
    std::string out(text.substr(0, byte_offset(head)));
    out += "\u2026";
    out += text.substr(byte_offset(width - tail));
    return out;
}

std::string wrap_words(std::string_view text, std::size_t columns, std::size_t first_columns) {
    std::string wrapped;
    std::size_t limit = first_columns;
    std::size_t column = 0;
    bool at_line_start = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
        const std::string_view word = text.substr(0, end);
        const std::size_t width = display_width(word);
        if (!at_line_start && column + 1 + width > limit) {
            wrapped += '\n';
            limit = columns;
            column = 0;
        } else if (!at_line_start) {
            wrapped += ' ';
            ++column;
        }
        wrapped += word;
        column += width;
        at_line_start = false;
        if (end < text.size() && text[end] == '\n') {
            wrapped += '\n';
            limit = columns;
            column = 0;
            at_line_start = true;
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return wrapped;
}

bool is_identifier(std::string_view text) {
    return !text.empty() && text.size() <= 128 && is_letter(text[0]) &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

std::string to_identifier(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 120))
        out += is_letter(c) || is_digit(c) ? c : '_';
    if (out.empty() || is_digit(out[0])) out.insert(out.begin(), '_');
    return out;
}

std::string comment_safe(std::string_view text) {
    std::string out;
    for (const char c : printable(text)) {
        if (!out.empty() && ((out.back() == '*' && c == '/') || (out.back() == '/' && c == '*'))) out += ' ';
        out += c;
    }
    // A backslash at the end of a // comment would continue it onto the next line; so would its trigraph.
    if (!out.empty() && (out.back() == '\\' || out.ends_with("?\?/"))) out += '.';
    return out;
}

std::string join_words(const std::vector<std::string>& words) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) out += i + 1 == words.size() ? " and " : ", ";
        out += words[i];
    }
    return out;
}

std::string demangle(const std::string& symbol) {
    if (symbol.size() > kLongestDemangledSymbol || !symbol.starts_with("_Z")) return symbol;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && name ? std::string(name.get()) : symbol;
}

std::string base_name_of_function(std::string_view demangled) {
    // The last identifier at nesting depth 0 that is followed by '<' or '(' (or the end) names the function.
    std::size_t depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < demangled.size(); ++i) {
        const char c = demangled[i];
        const bool anonymous = demangled.substr(i).starts_with("(anonymous namespace)");
        if (depth == 0 && anonymous) {
            i += std::string_view("(anonymous namespace)").size() - 1;
            continue;
        }
        if (depth == 0 && (c == '(' || c == '<')) {
            const std::string_view name = demangled.substr(begin, i - begin);
            if (c == '(') return std::string(name);
            // A template argument list is followed by the parameters, or by "::" and a nested name.
            std::size_t close = i;
            std::size_t angle = 0;
            for (; close < demangled.size(); ++close) {
                if (demangled[close] == '<' || demangled[close] == '(') ++angle;
                const bool arrow = demangled[close] == '>' && close > 0 && demangled[close - 1] == '-';
                if ((demangled[close] == '>' && !arrow) || demangled[close] == ')')
                    if (--angle == 0) break;
            }
            if (!demangled.substr(std::min(close + 1, demangled.size())).starts_with("::"))
                return std::string(name);
            i = close;
            continue;
        }
        if (c == ' ') begin = i + 1;
        if (c == ':' && i + 1 < demangled.size() && demangled[i + 1] == ':') begin = i + 2;
    }
    return std::string(demangled.substr(begin));
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
    std::string nearest;
    std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best) {
            best = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

} // namespace deepjit
