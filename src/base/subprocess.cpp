#include "src/base/subprocess.hpp"

#include "src/base/files.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace deepjit {
namespace {

volatile std::sig_atomic_t g_child = 0;
volatile std::sig_atomic_t g_interrupts = 0;

extern "C" void forward_signal(int signal, siginfo_t* info, void*) {
    const pid_t child = g_child;
    if (child <= 0) return;
    if (signal == SIGINT) g_interrupts = g_interrupts + 1;
    if (signal == SIGINT && g_interrupts > 1) {
        kill(child, SIGKILL);
        return;
    }
    // A signal typed at the terminal (sent by the kernel) already reached the whole foreground group.
    if (info != nullptr && info->si_code == SI_KERNEL) return;
    kill(child, signal);
}

/// Holds the signals back until there is a child to forward them to.
class SignalForwarding {
  public:
    SignalForwarding() {
        sigset_t held;
        sigemptyset(&held);
        for (const int signal : kSignals)
            sigaddset(&held, signal);
        pthread_sigmask(SIG_BLOCK, &held, &mask_before_);
        struct sigaction action {};
        action.sa_sigaction = forward_signal;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            sigaction(kSignals[i], &action, &previous_[i]);
    }
    ~SignalForwarding() {
        g_child = 0;
        g_interrupts = 0;
        pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            sigaction(kSignals[i], &previous_[i], nullptr);
    }
    SignalForwarding(const SignalForwarding&) = delete;
    SignalForwarding& operator=(const SignalForwarding&) = delete;

    /// What the child must start with.
    const sigset_t& mask_before() const { return mask_before_; }
    void forward_to(pid_t child) {
        g_child = child;
        pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    }

  private:
    static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    std::array<struct sigaction, kSignals.size()> previous_{};
    sigset_t mask_before_{};
};

std::vector<std::string> merged_environment(const Command& command) {
    std::vector<std::string> merged;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('='));
        bool overridden = false;
        for (const auto& [key, value] : command.environment)
            overridden = overridden || key == name;
        if (!overridden) merged.emplace_back(text);
    }
    for (const auto& [key, value] : command.environment)
        if (!value.empty()) merged.push_back(key + "=" + value);
    return merged;
}

std::vector<char*> as_argv(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (std::string& text : strings)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// The file that posix_spawnp() tries for `program`; empty where there is none.
std::string find_program(const std::string& program) {
    if (program.find('/') != std::string::npos) return ::access(program.c_str(), F_OK) == 0 ? program : "";
    const char* const path = std::getenv("PATH");
    std::string_view folders = path == nullptr ? "/bin:/usr/bin" : path;
    while (!program.empty() && !folders.empty()) {
        const std::size_t end = std::min(folders.find(':'), folders.size());
        const std::string folder(folders.substr(0, end));
        const std::string file = (folder.empty() ? "." : folder) + "/" + program;
        if (::access(file.c_str(), X_OK) == 0) return file;
        folders.remove_prefix(std::min(end + 1, folders.size()));
    }
    return {};
}

/// "/bin/sh" of a file that begins with "#!/bin/sh -e"; empty where it is no script.
std::string interpreter_of(const std::string& file) {
    constexpr std::size_t kLongestLine = 256; // as Linux reads
    std::ifstream stream(file, std::ios::binary);
    std::string line(kLongestLine, '\0');
    stream.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<std::size_t>(stream.gcount()));
    line.resize(std::min(line.find('\n'), line.size()));
    if (!line.starts_with("#!")) return {};
    const std::size_t begin = std::min(line.find_first_not_of(" \t", 2), line.size());
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    return line.substr(begin, end - begin);
}

/// The system also says "not found" of a file that is there, when what must run it is not.
StartError interpreter_error(const std::string& program, std::string file) {
    std::string interpreter = interpreter_of(file);
    for (int nested = 0; nested < 4 && !interpreter.empty() && ::access(interpreter.c_str(), F_OK) == 0;
         ++nested) {
        file = std::exchange(interpreter, interpreter_of(interpreter)); // a script that runs scripts
    }
    if (interpreter.empty())
        return {StartFailure::NotExecutable,
                failure(fmt::format("'{}' is there, but the loader that it needs is not", program),
                        fmt::format("starting '{}': {}", file, system_error_text(ENOENT)),
                        "it was built for another system; 'readelf -l' names the loader")};
    std::string hint = "install it, or correct the first line of the script";
    if (interpreter.ends_with('\r'))
        hint =
            "its lines end as on Windows, and the carriage return counts as part of the name: convert them "
            "(dos2unix)";
    return {StartFailure::NotExecutable,
            failure(fmt::format("the interpreter '{}' of the script '{}' is missing", interpreter, program),
                    fmt::format("the first line of '{}' names it", file), hint)};
}

StartError start_error(const std::string& program, int error_number) {
    if (error_number == ENOENT) {
        if (const std::string file = find_program(program); !file.empty())
            return interpreter_error(program, file);
    }
    if (error_number == ENOENT)
        return {StartFailure::NotFound,
                failure(fmt::format("cannot find the program '{}'", program), {},
                        "check the name, or give its path (./program for one in this folder)")};
    if (error_number == EACCES || error_number == ENOEXEC || error_number == EISDIR)
        return {
            StartFailure::NotExecutable,
            failure(fmt::format("'{}' is not an executable program", program),
                    system_error_text(error_number),
                    "a script needs a #! line and chmod +x, or name its interpreter (python3 script.py)")};
    return {StartFailure::Other,
            failure(fmt::format("cannot start '{}'", program), system_error_text(error_number))};
}

struct Pipe {
    int read_end = -1;
    int write_end = -1;
    bool open() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) return false;
        read_end = ends[0];
        write_end = ends[1];
        return true;
    }
    void close_read() {
        if (read_end >= 0) ::close(std::exchange(read_end, -1));
    }
    void close_write() {
        if (write_end >= 0) ::close(std::exchange(write_end, -1));
    }
    ~Pipe() {
        close_read();
        close_write();
    }
};

/// Reads both pipes to their end, or until `deadline`. False on expiry.
bool collect(Pipe& out, Pipe& err, Finished& finished, std::chrono::steady_clock::time_point deadline,
             bool has_deadline) {
    std::array<char, 1 << 14> buffer;
    while (out.read_end >= 0 || err.read_end >= 0) {
        std::array<pollfd, 2> polled = {pollfd{out.read_end, POLLIN, 0}, pollfd{err.read_end, POLLIN, 0}};
        int wait_ms = -1;
        if (has_deadline) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                deadline - std::chrono::steady_clock::now());
            if (left.count() <= 0) return false;
            wait_ms = static_cast<int>(left.count());
        }
        if (poll(polled.data(), polled.size(), wait_ms) < 0 && errno != EINTR) return true;
        const auto drain = [&](Pipe& pipe, short events, std::string& sink) {
            if (pipe.read_end < 0 || events == 0) return;
            const ssize_t count = ::read(pipe.read_end, buffer.data(), buffer.size());
            if (count > 0) sink.append(buffer.data(), static_cast<std::size_t>(count));
            if (count == 0 || (count < 0 && errno != EINTR)) pipe.close_read();
        };
        drain(out, polled[0].revents, finished.standard_output);
        drain(err, polled[1].revents, finished.standard_error);
    }
    return true;
}

/// Waits for the child; kills it at the deadline. True when it had to be killed.
bool wait_for(pid_t child, int& raw_status, std::chrono::steady_clock::time_point deadline,
              bool has_deadline) {
    if (!has_deadline) {
        while (waitpid(child, &raw_status, 0) < 0 && errno == EINTR) {
        }
        return false;
    }
    for (;;) {
        const pid_t ended = waitpid(child, &raw_status, WNOHANG);
        if (ended == child) return false;
        if (std::chrono::steady_clock::now() >= deadline) {
            kill(child, SIGKILL);
            while (waitpid(child, &raw_status, 0) < 0 && errno == EINTR) {
            }
            return true;
        }
        usleep(2000);
    }
}

} // namespace

std::variant<Finished, StartError> run(const Command& command) {
    std::vector<std::string> arguments = command.arguments;
    std::vector<std::string> environment = merged_environment(command);
    std::vector<char*> argv = as_argv(arguments);
    std::vector<char*> envp = as_argv(environment);

    Pipe out;
    Pipe err;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (command.capture_output) {
        if (!out.open() || !err.open()) {
            const int error_number = errno;
            posix_spawn_file_actions_destroy(&actions);
            return start_error(arguments[0], error_number);
        }
        posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, err.write_end, STDERR_FILENO);
    }

    SignalForwarding forwarding;
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &forwarding.mask_before());
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int spawned = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), envp.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (spawned != 0) return start_error(arguments[0], spawned);
    forwarding.forward_to(child);
    out.close_write();
    err.close_write();

    const bool has_deadline = command.timeout_seconds > 0;
    const auto deadline = std::chrono::steady_clock::now() +
                          std::chrono::milliseconds(static_cast<long>(command.timeout_seconds * 1000));
    Finished finished;
    if (command.capture_output) {
        const bool in_time = collect(out, err, finished, deadline, has_deadline);
        if (!in_time) kill(child, SIGKILL);
        finished.timed_out = !in_time;
    }
    int raw_status = 0;
    finished.timed_out = wait_for(child, raw_status, deadline, has_deadline) || finished.timed_out;
    if (WIFEXITED(raw_status)) finished.status.code = WEXITSTATUS(raw_status);
    if (WIFSIGNALED(raw_status)) finished.status.signal = WTERMSIG(raw_status);
    return finished;
}

} // namespace deepjit
