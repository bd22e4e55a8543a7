#pragma once

#include <string>
#include <utility>
#include <variant>

namespace deepjit {

/// Who can mend the failure; the command line maps it to an exit code (cli/exit_code.hpp).
enum class ErrorKind {
    Failed,       ///< the operation failed: I/O, corrupt input, compiler error
    Usage,        ///< the command line asks for something that cannot be
    Environment,  ///< the machine is unfit: no GPU, no CUPTI, no permission
    Verification, ///< a fused kernel does not compute what it must
};

/// What a person reads: what happened, the evidence, the remedy. Each is one sentence or empty.
struct Diagnostic {
    ErrorKind kind = ErrorKind::Failed;
    std::string message;
    std::string evidence;
    std::string hint;
};

inline Diagnostic failure(std::string message, std::string evidence = {}, std::string hint = {}) {
    return {ErrorKind::Failed, std::move(message), std::move(evidence), std::move(hint)};
}
inline Diagnostic usage_error(std::string message, std::string evidence = {}, std::string hint = {}) {
    return {ErrorKind::Usage, std::move(message), std::move(evidence), std::move(hint)};
}
inline Diagnostic environment_error(std::string message, std::string evidence = {}, std::string hint = {}) {
    return {ErrorKind::Environment, std::move(message), std::move(evidence), std::move(hint)};
}
inline Diagnostic verification_error(std::string message, std::string evidence = {}, std::string hint = {}) {
    return {ErrorKind::Verification, std::move(message), std::move(evidence), std::move(hint)};
}

/// A value, or the Diagnostic that says why there is none. For everything a user, file, driver or compiler
/// can cause; our own mistakes are assertions. Three ways to handle one: test it and use `error()`, pass it
/// on with DEEPJIT_TRY, or `value_or` a default.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Diagnostic error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& operator*() & { return std::get<0>(state_); }
    const T& operator*() const& { return std::get<0>(state_); }
    T&& operator*() && { return std::get<0>(std::move(state_)); }
    T* operator->() { return &std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }

    const Diagnostic& error() const& { return std::get<1>(state_); }
    Diagnostic&& error() && { return std::get<1>(std::move(state_)); }

    T value_or(T fallback) && { return has_value() ? std::get<0>(std::move(state_)) : std::move(fallback); }

  private:
    std::variant<T, Diagnostic> state_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Diagnostic error) : error_(std::move(error)), failed_(true) {}

    bool has_value() const { return !failed_; }
    explicit operator bool() const { return has_value(); }
    const Diagnostic& error() const& { return error_; }
    Diagnostic&& error() && { return std::move(error_); }

  private:
    Diagnostic error_;
    bool failed_ = false;
};

} // namespace deepjit

#define DEEPJIT_CONCAT_INNER(a, b) a##b
#define DEEPJIT_CONCAT(a, b) DEEPJIT_CONCAT_INNER(a, b)

/// `DEEPJIT_TRY(auto text, read_file(path));` declares `text`, or returns the error to the caller.
#define DEEPJIT_TRY(declaration, expression)                                                                 \
    auto DEEPJIT_CONCAT(result_, __LINE__) = (expression);                                                   \
    if (!DEEPJIT_CONCAT(result_, __LINE__)) return std::move(DEEPJIT_CONCAT(result_, __LINE__)).error();     \
    declaration = *std::move(DEEPJIT_CONCAT(result_, __LINE__))

/// The same for an expression whose value is not wanted.
#define DEEPJIT_CHECK(expression)                                                                            \
    do {                                                                                                     \
        auto result_of_check = (expression);                                                                 \
        if (!result_of_check) return std::move(result_of_check).error();                                     \
    } while (false)
