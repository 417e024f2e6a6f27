// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command_tree.h"
#include "app/cli/default_arguments.h"

namespace swage::cli {

void addMcpCommand(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* command = addCommand(parser, "mcp", "Let a coding agent work the archive, over the Model Context Protocol",
                                 WithProject::Yes);
  command->add_option("what", raw.mcp.what, "A task, as `swage optimize` takes it, or the folder of a project")
      ->type_name("TASK|PROJECT");
  command->add_flag("--allow-submissions", raw.mcp.allowSubmissions,
                    "Let the agent submit kernels, begin a run of TASK, and write exports");
  addTarget(command, raw.mcp.spec.target);
  addTaskOptions(command, raw, raw.mcp.spec.inputs, raw.mcp.spec.eval);
  command->add_flag("--no-compile-baseline", raw.noCompileBaseline, "Do not measure torch.compile");
  command->add_flag("--no-self-test", raw.noSelfTest, "Verify without the self-test of this device");
  addSandbox(command, raw);
  explain(
      parser, command,
      "Speaks JSON-RPC on standard input and output until standard input ends; logs go to standard error. The agent "
      "starts it: name this command in the agent's settings. Without --allow-submissions it only reads. What an "
      "agent submits is compiled, verified, timed and recorded like every candidate, under the agent's name.",
      {"swage mcp runs/softmax", "swage mcp softmax_rows --target cpu --allow-submissions"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> {
    SWAGE_TRY(takeOverrides(filled, filled.mcp.spec.overrides));
    filled.mcp.spec.compileBaselines = !filled.noCompileBaseline && comparesWithCompile(filled.settings);
    filled.mcp.selfTest = !filled.noSelfTest;
    return CommandArguments(filled.mcp);
  };
}

}  // namespace swage::cli
