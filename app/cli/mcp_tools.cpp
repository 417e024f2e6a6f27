// SPDX-License-Identifier: Apache-2.0
#include "app/cli/mcp_tools.h"

#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "app/cli/mcp_text.h"

namespace swage::cli {
namespace {

using domain::Json;
using Property = std::pair<const char*, Json>;

Json objectSchema(std::initializer_list<Property> properties, std::initializer_list<const char*> required) {
  Json json{{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  for (const auto& [name, schema] : properties) {
    json["properties"][name] = schema;
  }
  if (required.size() > 0) {
    json["required"] = Json::array();
    for (const char* name : required) {
      json["required"].push_back(name);
    }
  }
  return json;
}

Json number(const char* description) {
  return {{"type", "integer"}, {"minimum", 1}, {"description", description}};
}
Json text(const char* description) {
  return {{"type", "string"}, {"description", description}};
}
Json flag(const char* description) {
  return {{"type", "boolean"}, {"description", description}};
}

std::string limitText() {
  return fmt::format(" Answers have at most {} KiB; longer sources, logs and diffs are cut, and say where the rest is.",
                     kMostOfMcpAnswer >> 10U);
}

mcp::Tool openTask(McpAccess access) {
  const bool mayBegin = access == McpAccess::Submissions;
  return {
      .name = "open_task",
      .title = "Open the task",
      .description = std::string("Shows the task to work on: its source, graph, shapes, device, baselines, and how a "
                                 "kernel and its launch plan are written. Call this first.") +
                     (mayBegin ? " Where the task has no run yet, one is begun: PyTorch is measured, which takes a "
                                 "minute."
                               : "") +
                     limitText(),
      .inputSchema = mayBegin ? objectSchema({{"run", number("A run of the project; the newest by default")},
                                              {"new_run", flag("Begin a run even if there is one")}},
                                             {})
                              : objectSchema({{"run", number("A run of the project; the newest by default")}}, {}),
      .isReadOnly = !mayBegin,
      .isRepeatable = !mayBegin};
}

mcp::Tool readArchive() {
  return {.name = "read_archive",
          .title = "Read the archive",
          .description =
              "Lists the cells of the archive in which something was tried, with their best, and the fastest "
              "candidates. A cell is a way to write a kernel: how it moves data, computes, and is divided "
              "into launches." +
              limitText(),
          .inputSchema = objectSchema(
              {{"run", number("A run of the project; the opened one by default")},
               {"island", {{"type", "integer"}, {"minimum", 0}, {"description", "Only this island of the search"}}},
               {"filter", text("Which candidates, such as \"status:correct speedup>1.5\" or \"cell:A2 registers<64\"")},
               {"limit", {{"type", "integer"}, {"minimum", 1}, {"maximum", 100}, {"description", "20 by default"}}}},
              {})};
}

mcp::Tool readCandidate() {
  return {.name = "read_candidate",
          .title = "Read a candidate",
          .description =
              "Shows a candidate: source, launch plan, verdict with the reason why it failed, what the "
              "compiler said of its kernels, its counters if it was profiled, and advice." +
              limitText(),
          .inputSchema = objectSchema({{"candidate", number("Its number")}}, {"candidate"})};
}

mcp::Tool judgeAdvice() {
  return {.name = "judge_advice",
          .title = "Ask the judge",
          .description =
              "Says what the judge's rules find in a candidate: for one that failed what to mend, for a "
              "correct one its bottleneck, a method, a plan, and the expected gain." +
              limitText(),
          .inputSchema = objectSchema({{"candidate", number("Its number")}}, {"candidate"})};
}

mcp::Tool searchPatterns() {
  return {.name = "search_patterns",
          .title = "Search patterns",
          .description =
              "Finds patterns, kernels that won here before, templates of the installed PyTorch compiler and "
              "Triton, and data sheets of GPUs, by what they are about. The first call may take seconds." +
              limitText(),
          .inputSchema = objectSchema(
              {{"query", text("Such as \"row softmax, long rows, sm_90\"")},
               {"operator", text("Only for this operator, such as softmax")},
               {"type", text("Only for this type, such as float32")},
               {"architecture", text("Only for this architecture: sm_90, cuda or cpu")},
               {"bottleneck", text("Only against this bottleneck: memory, compute or latency")},
               {"limit", {{"type", "integer"}, {"minimum", 1}, {"maximum", 20}, {"description", "5 by default"}}}},
              {"query"})};
}

mcp::Tool compareCandidates() {
  return {.name = "compare_candidates",
          .title = "Compare two candidates",
          .description =
              "Compares two candidates: how much faster the second is, whether that is more than the "
              "measurements are uncertain, and the diff of their plans and sources." +
              limitText(),
          .inputSchema =
              objectSchema({{"first", number("Its number")}, {"second", number("Its number")}}, {"first", "second"})};
}

mcp::Tool exportCandidate(McpAccess access) {
  const char* where = access == McpAccess::Submissions
                          ? " The files are also written into the project's folder exports."
                          : " Nothing is written: the answer has the files.";
  return {.name = "export_candidate",
          .title = "Export a candidate",
          .description = std::string("Makes a Python file with class ModelNew, or a folder with it, out of a correct "
                                     "candidate, and says what was checked of it.") +
                         where + limitText(),
          .inputSchema = objectSchema({{"candidate", number("Its number")},
                                       {"format",
                                        {{"type", "string"},
                                         {"enum", {"modelnew", "project"}},
                                         {"description", "modelnew, one file, by default"}}}},
                                      {"candidate"}),
          .isReadOnly = access == McpAccess::ReadOnly};
}

mcp::Tool submitKernel() {
  const Json plan{{"type", "object"},
                  {"description", "The launch plan, as open_task says: {\"intent\", \"scratch\", \"steps\"}"},
                  {"properties",
                   {{"intent", text("One sentence: what this program does better")},
                    {"scratch", {{"type", "array"}}},
                    {"steps", {{"type", "array"}, {"minItems", 1}}}}},
                  {"required", {"steps"}}};
  return {
      .name = "submit_kernel",
      .title = "Submit a kernel",
      .description =
          fmt::format("Compiles a kernel, verifies it against PyTorch in float64, times it, records it, and "
                      "answers with its verdict, its place in the archive, counters and advice. Takes ten seconds "
                      "to minutes; progress is told. One at a time; more wait. The source may have {} KiB.",
                      kMostOfMcpSource >> 10U) +
          limitText(),
      .inputSchema = objectSchema({{"source", text("The whole device code, without a fence")},
                                   {"plan", plan},
                                   {"parent", number("The candidate that this one was made from, if any")},
                                   {"profile", flag("Whether to count what a correct kernel does; true by default")}},
                                  {"source", "plan"}),
      .isReadOnly = false,
      .isRepeatable = false};
}

}  // namespace

std::vector<mcp::Tool> mcpTools(McpAccess access) {
  std::vector<mcp::Tool> tools{openTask(access), readArchive(),       readCandidate(),        searchPatterns(),
                               judgeAdvice(),    compareCandidates(), exportCandidate(access)};
  if (access == McpAccess::Submissions) {
    tools.push_back(submitKernel());
  }
  return tools;
}

std::string mcpInstructions(McpAccess access) {
  std::string instructions =
      "Swage looks for the fastest verified kernel of a PyTorch task. Every candidate is device code plus a launch "
      "plan; "
      "it is compiled, verified against PyTorch in float64 and timed by Swage alone. Begin with open_task. "
      "read_archive "
      "shows what was found, read_candidate why a candidate is slow or wrong.";
  instructions +=
      access == McpAccess::Submissions
          ? " submit_kernel tries a kernel of yours; mend what its verdict says is wrong, then follow its "
            "counters and advice. export_candidate writes the result."
          : " This server is read-only: a person starts it with --allow-submissions to let you try kernels.";
  return instructions;
}

}  // namespace swage::cli
