#include "cli/descendants.hpp"

#include "cli/run_folder.hpp"
#include "cli/signal_guard.hpp"

#include <cerrno>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace deepjit::cli {

Descendants::Descendants() {
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
}

Descendants::~Descendants() {
    prctl(PR_SET_CHILD_SUBREAPER, 0L, 0L, 0L, 0L);
}

bool Descendants::wait_for_all(const std::filesystem::path& run_folder) {
    const int signals_before = SignalGuard::signals_seen();
    while (SignalGuard::signals_seen() == signals_before) {
        int status = 0;
        const pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended > 0) continue;
        const bool has_children = ended == 0;
        // A process of another container or session writes here, too.
        if (!has_children && running_processes(run_folder).empty()) return true;
        usleep(20'000);
    }
    return false;
}

} // namespace deepjit::cli
