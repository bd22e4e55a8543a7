#include "cli/commands.hpp"

#include "cli/cmd_advise.hpp"
#include "cli/cmd_calibrate.hpp"
#include "cli/cmd_doctor.hpp"
#include "cli/cmd_env.hpp"
#include "cli/cmd_fuse.hpp"
#include "cli/cmd_import.hpp"
#include "cli/cmd_launch_loop.hpp"
#include "cli/cmd_model.hpp"
#include "cli/cmd_profile.hpp"

namespace deepjit::cli {

std::vector<std::unique_ptr<Command>> all_commands() {
    std::vector<std::unique_ptr<Command>> commands;
    commands.push_back(make_profile_command());
    commands.push_back(make_env_command());
    commands.push_back(make_import_command());
    commands.push_back(make_advise_command());
    commands.push_back(make_fuse_command());
    commands.push_back(make_model_command());
    commands.push_back(make_calibrate_command());
    commands.push_back(make_doctor_command());
    commands.push_back(make_launch_loop_command());
    return commands;
}

} // namespace deepjit::cli
