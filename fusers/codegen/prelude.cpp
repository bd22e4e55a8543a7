#include "fusers/codegen/prelude.hpp"

#include <algorithm>
#include <array>

namespace deepjit::codegen {
namespace {

struct Piece {
    std::string_view name;
    std::string_view text;
};

/// In an order that compiles: a piece uses earlier ones only. DEEPJIT_ON_CPU is defined by the tests that
/// compile emitted text for a CPU; they bring their own versions of what is PTX here.
constexpr std::array kPieces{
    Piece{"float16", "struct float16 {\n    unsigned short bits;\n};\n"},
    Piece{"bfloat16", "struct bfloat16 {\n    unsigned short bits;\n};\n"},
    Piece{"float16_bits_to_float", R"(#ifndef DEEPJIT_ON_CPU
__device__ __forceinline__ float float16_bits_to_float(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
#endif
)"},
    Piece{"float_to_float16_bits", R"(#ifndef DEEPJIT_ON_CPU
__device__ __forceinline__ unsigned short float_to_float16_bits(float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
#endif
)"},
    Piece{"float_to_bfloat16_bits", R"(#ifndef DEEPJIT_ON_CPU
__device__ __forceinline__ unsigned short float_to_bfloat16_bits(float value) {
#if __CUDA_ARCH__ >= 800
    unsigned short bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#else
    const unsigned int word = __float_as_uint(value);
    if ((word & 0x7fffffffu) > 0x7f800000u) return 0x7fff; // NaN
    return (unsigned short)((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
#endif
}
#endif
)"},
    // "to_float" is two overloads; each has a marker of its own so that only the one in use is emitted.
    Piece{"to_float/*float16*/", R"(__device__ __forceinline__ float to_float(float16 x) {
    return float16_bits_to_float(x.bits);
}
)"},
    Piece{"to_float/*bfloat16*/", R"(__device__ __forceinline__ float to_float(bfloat16 x) {
    return __uint_as_float((unsigned int)x.bits << 16);
}
)"},
    Piece{"to_float16", R"(__device__ __forceinline__ float16 to_float16(float x) {
    return {float_to_float16_bits(x)};
}
)"},
    Piece{"to_bfloat16", R"(__device__ __forceinline__ bfloat16 to_bfloat16(float x) {
    return {float_to_bfloat16_bits(x)};
}
)"},
    Piece{"round_to_float16", R"(// The nearest float16, ties to even: what storing to memory does.
__device__ __forceinline__ float round_to_float16(float x) {
    return to_float(to_float16(x));
}
)"},
    Piece{"round_to_bfloat16", R"(// The nearest bfloat16, ties to even: what storing to memory does.
__device__ __forceinline__ float round_to_bfloat16(float x) {
    return to_float(to_bfloat16(x));
}
)"},
    Piece{"maximum", R"(// NaN if either is NaN; fmaxf would drop it.
__device__ __forceinline__ float maximum(float a, float b) {
    return a != a ? a : b != b ? b : fmaxf(a, b);
}
)"},
    Piece{"minimum", R"(// NaN if either is NaN; fminf would drop it.
__device__ __forceinline__ float minimum(float a, float b) {
    return a != a ? a : b != b ? b : fminf(a, b);
}
)"},
    Piece{"clip", R"(// NaN stays NaN.
__device__ __forceinline__ float clip(float x, float low, float high) {
    return x != x ? x : fminf(fmaxf(x, low), high);
}
)"},
    Piece{"relu", R"(// NaN stays NaN.
__device__ __forceinline__ float relu(float x) {
    return x <= 0.0f ? 0.0f : x;
}
)"},
    Piece{"leaky_relu", R"(__device__ __forceinline__ float leaky_relu(float x, float alpha) {
    return x > 0.0f ? x : __fmul_rn(x, alpha);
}
)"},
    Piece{"elu", R"(__device__ __forceinline__ float elu(float x, float alpha) {
    return x <= 0.0f ? __fmul_rn(expm1f(x), alpha) : x;
}
)"},
    Piece{"sigmoid", R"(__device__ __forceinline__ float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}
)"},
    Piece{"silu", R"(__device__ __forceinline__ float silu(float x) {
    return x / (1.0f + expf(-x));
}
)"},
    Piece{"swish", R"(__device__ __forceinline__ float swish(float x, float alpha) {
    return x / (1.0f + expf(-alpha * x));
}
)"},
    Piece{"gelu", R"(__device__ __forceinline__ float gelu(float x) {
    return __fmul_rn(0.5f * x, 1.0f + erff(x * 0.707106781f));
}
)"},
    Piece{"gelu_tanh", R"(__device__ __forceinline__ float gelu_tanh(float x) {
    const float inner = 0.797884561f * (x + 0.044715f * (x * x * x));
    return __fmul_rn(0.5f * x, 1.0f + tanhf(inner));
}
)"},
    Piece{"Word/*16*/", "using Word = uint4;\n"}, Piece{"Word/*8*/", "using Word = uint2;\n"},
    Piece{"Vector", R"(// `count` adjacent elements, moved a word at a time.
template <class Element, int count>
union Vector {
    Word words[sizeof(Element) * count / sizeof(Word)];
    Element element[count];
};
)"},
    Piece{"load", R"(template <int count, class Element>
__device__ __forceinline__ Vector<Element, count> load(const Element* from) {
    Vector<Element, count> vector;
#pragma unroll
    for (int i = 0; i < int(sizeof(vector.words) / sizeof(Word)); ++i)
        vector.words[i] = reinterpret_cast<const Word*>(from)[i];
    return vector;
}
)"},
    Piece{"store", R"(template <int count, class Element>
__device__ __forceinline__ void store(Element* to, const Vector<Element, count>& vector) {
#pragma unroll
    for (int i = 0; i < int(sizeof(vector.words) / sizeof(Word)); ++i)
        reinterpret_cast<Word*>(to)[i] = vector.words[i];
}
)"},
    Piece{
        "store_streaming",
        R"(// Marks the lines as the first to leave the L2 cache: they are larger than it and would displace the rest.
template <int count, class Element>
__device__ __forceinline__ void store_streaming(Element* to, const Vector<Element, count>& vector) {
#pragma unroll
    for (int i = 0; i < int(sizeof(vector.words) / sizeof(Word)); ++i)
        __stcs(reinterpret_cast<Word*>(to) + i, vector.words[i]);
}
)"}};

bool is_word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool uses_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const bool starts = at == 0 || !is_word_character(text[at - 1]);
        const std::size_t end = at + word.size();
        if (starts && (end == text.size() || !is_word_character(text[end]))) return true;
    }
    return false;
}

std::string without_comments(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        out.append(line.substr(0, line.find("//"))) += '\n';
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return out;
}

std::string_view plain_name(const Piece& piece) {
    return piece.name.substr(0, piece.name.find('/'));
}

bool is_used(const Piece& piece, std::string_view text, int vector_bytes) {
    if (!uses_word(text, plain_name(piece))) return false;
    if (plain_name(piece) == "Word") return (vector_bytes == 16) == (piece.name == "Word/*16*/");
    // An overload is used where the type of its argument is.
    const std::size_t marker = piece.name.find("/*");
    if (marker == std::string_view::npos) return true;
    return uses_word(text, piece.name.substr(marker + 2, piece.name.size() - marker - 4));
}

} // namespace

std::string prelude_for(std::string_view body, int vector_bytes) {
    std::array<bool, kPieces.size()> wanted{};
    std::string users = without_comments(body);
    for (std::size_t i = kPieces.size(); i-- > 0;) {
        wanted[i] = is_used(kPieces[i], users, vector_bytes);
        if (wanted[i]) users += without_comments(kPieces[i].text);
    }
    std::string out;
    for (std::size_t i = 0; i < kPieces.size(); ++i) {
        if (!wanted[i]) continue;
        if (!out.empty()) out += '\n';
        out += kPieces[i].text;
    }
    return out;
}

std::vector<std::string_view> prelude_names() {
    std::vector<std::string_view> names;
    for (const Piece& piece : kPieces)
        names.push_back(plain_name(piece));
    return names;
}

} // namespace deepjit::codegen
