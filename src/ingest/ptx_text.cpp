#include "src/ingest/ptx_text.hpp"

#include <algorithm>

namespace deepjit::ingest {
namespace {

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/// PTX identifiers: letters, digits, '_' and '$', and '%' in front.
bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

/// Walks the text a token at a time.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}

    /// The next directive, word or other character; empty at the end.
    std::string_view next() {
        skip_space_comments_and_strings();
        if (at_ >= text_.size()) return {};
        const std::size_t start = at_++;
        if (text_[start] == '.' || is_word(text_[start]))
            while (at_ < text_.size() && is_word(text_[at_]))
                ++at_;
        return text_.substr(start, at_ - start);
    }

  private:
    /// Moves behind the next `end`, or to the end of the text.
    void skip_past(std::string_view end) {
        const std::size_t found = text_.find(end, at_);
        at_ = found == std::string_view::npos ? text_.size() : found + end.size();
    }
    void skip_space_comments_and_strings() {
        while (at_ < text_.size()) {
            const std::string_view rest = text_.substr(at_);
            if (is_space(rest[0])) {
                ++at_;
            } else if (rest.starts_with("//")) {
                skip_past("\n");
            } else if (rest.starts_with("/*")) {
                at_ += 2;
                skip_past("*/");
            } else if (rest[0] == '"') {
                ++at_;
                skip_past("\"");
            } else {
                return;
            }
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace

std::vector<std::string> kernels_of_ptx(std::string_view text) {
    std::vector<std::string> kernels;
    Scanner scanner(text);
    for (std::string_view token = scanner.next(); !token.empty(); token = scanner.next()) {
        if (token != ".entry") continue;
        const std::string_view name = scanner.next();
        if (name.empty() || !is_word(name[0])) continue;
        if (std::find(kernels.begin(), kernels.end(), name) == kernels.end()) kernels.emplace_back(name);
    }
    return kernels;
}

} // namespace deepjit::ingest
