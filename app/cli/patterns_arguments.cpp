// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command_tree.h"

namespace swage::cli {

void addPatternCommands(Parser& parser) {
  Raw& raw = parser.raw;
  CLI::App* group = addCommandGroup(parser, "patterns", "Search what is known about fast kernels");
  explain(parser, group, {}, {"swage patterns search \"row softmax, long rows, sm_90\""});
  CLI::App* command =
      addCommand(parser, *group, "search", "Find patterns, kernels and facts by what they are about", WithProject::Yes);
  retrieval::Question& question = raw.patterns.question;
  command->add_option("question", question.text, "What is wanted, in words")->required()->type_name("QUESTION");
  command->add_option("--operator", question.operatorName, "Only for this operator, such as softmax")
      ->type_name("NAME");
  command->add_option("--type", question.type, "Only for this type, such as float32")->type_name("TYPE");
  command->add_option("--arch", question.architecture, "Only for this architecture: sm_90, cuda or cpu")
      ->type_name("ARCH");
  command->add_option("--bottleneck", question.bottleneck, "Only against this bottleneck: memory, compute or latency")
      ->type_name("NAME");
  auto* model = command
                    ->add_option("--embeddings", raw.patterns.model,
                                 "Embedding model, as `swage models list` shows it, that ranks the best 60 once more")
                    ->type_name("NAME");
  command
      ->add_flag("--no-embeddings", raw.patterns.noModel,
                 "Leave out the embedding model that the setting swarm.embeddings names")
      ->excludes(model);
  constexpr int kMost = 1000;
  command->add_option("--limit", question.limit, "The most to show")
      ->type_name("N")
      ->check(CLI::Range(1, kMost))
      ->capture_default_str();
  explain(
      parser, command,
      "Looks through Swage's patterns, kernels that won searches on this machine, the sources of the installed "
      "PyTorch compiler and Triton, data sheets of GPUs, and the checkout of CUTLASS that the setting "
      "locations.cutlass names. The index stays on this machine, is brought up to date by itself, and may be deleted: "
      "~/.cache/swage/patterns.sqlite. Nothing leaves this machine without --embeddings or the setting "
      "swarm.embeddings: that model is sent the question and the beginnings of what was found.",
      {"swage patterns search \"row softmax, long rows, sm_90\"",
       "swage patterns search \"matmul with bias and gelu\" --arch sm_90 --json"});
  parser.finish[command] = [](Raw& filled) -> Result<CommandArguments> { return CommandArguments(filled.patterns); };
}

}  // namespace swage::cli
