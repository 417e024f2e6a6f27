// SPDX-License-Identifier: Apache-2.0
#include "app/cli/compare_view.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/cli/terminal.h"
#include "app/cli/unified_diff.h"
#include "app/cli/views.h"
#include "core/domain/listing.h"

namespace swage::cli {
namespace {

const domain::Correct* correctOf(const ComparedSide& one) {
  return one.detail.evaluation ? domain::asCorrect(*one.detail.evaluation) : nullptr;
}

std::string nameOf(const ComparedSide& one) {
  return fmt::format("{} of r{}", one.detail.row.id.value(), one.run.id.value());
}

domain::Speedup overEager(const ComparedSide& one) {
  const domain::Correct* correct = correctOf(one);
  if (correct == nullptr || correct->timing.eager.samples == 0) {
    return {};
  }
  return {correct->timing.speedup, correct->timing.speedupLow, correct->timing.speedupHigh};
}

domain::Speedup::Times timesOf(const ComparedSide& one) {
  const services::CandidateRow& row = one.detail.row;
  return {row.timeNs, row.lowNs, row.highNs};
}

std::string orDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

template <class Value>
std::string sumText(const ComparedSide& one, Value value) {
  std::int64_t sum = 0;
  for (const domain::KernelFacts& kernel : one.detail.kernels) {
    sum += value(kernel);
  }
  return one.detail.kernels.empty() ? "-" : std::to_string(sum);
}

std::string rewritesText(const domain::Genome& genome) {
  std::string text;
  for (const domain::Rewrite& rewrite : genome.rewrites) {
    text += (text.empty() ? "" : "; ") + domain::describe(rewrite);
  }
  return text.empty() ? "-" : text;
}

const domain::RegionGene* regionOf(const domain::Genome& genome, const std::vector<int>& nodes) {
  const auto found = std::find_if(genome.regions.begin(), genome.regions.end(),
                                  [&nodes](const auto& region) { return region.nodes == nodes; });
  return found == genome.regions.end() ? nullptr : &*found;
}

std::string parameterOf(const domain::RegionGene* region, const std::string& name) {
  const auto* parameters = region != nullptr ? &region->parameters : nullptr;
  const auto found = parameters != nullptr ? parameters->find(name) : decltype(parameters->find(name)){};
  return parameters != nullptr && found != parameters->end() ? std::to_string(found->second) : "-";
}

void compareRegions(std::vector<ComparedFact>& facts, const std::vector<int>& nodes, const domain::RegionGene* a,
                    const domain::RegionGene* b) {
  const std::string where = fmt::format("nodes {}", fmt::join(nodes, " "));
  const auto add = [&facts, &where](const std::string& what, std::string left, std::string right) {
    if (left != right) {
      facts.push_back({where + ": " + what, std::move(left), std::move(right)});
    }
  };
  add("pattern", a != nullptr ? a->pattern : "-", b != nullptr ? b->pattern : "-");
  std::set<std::string> names;
  for (const domain::RegionGene* region : {a, b}) {
    for (const auto& [name, value] : region != nullptr ? region->parameters : decltype(region->parameters){}) {
      names.insert(name);
    }
  }
  for (const std::string& name : names) {
    add(name, parameterOf(a, name), parameterOf(b, name));
  }
}

std::string sizeText(const domain::Dim3& size) {
  return fmt::format("{}x{}x{}", size.x, size.y, size.z);
}

std::string stepText(const domain::PlanStep& step) {
  if (const auto* kernel = std::get_if<domain::KernelStep>(&step)) {
    std::string text =
        fmt::format("kernel {} grid {} block {}", kernel->entry, sizeText(kernel->grid), sizeText(kernel->block));
    text += kernel->dynamicSharedBytes > 0 ? fmt::format(" shared {}", kernel->dynamicSharedBytes) : std::string();
    text += kernel->cluster == domain::Dim3{} ? std::string() : " cluster " + sizeText(kernel->cluster);
    return text + (kernel->cooperative ? " cooperative" : "");
  }
  if (const auto* aten = std::get_if<domain::AtenStep>(&step)) {
    return "ATen " + aten->node.op;
  }
  return fmt::format("zero buffer {}", std::get<domain::ZeroStep>(step).buffer.value());
}

std::string planText(const domain::LaunchPlan& plan) {
  std::string text;
  for (const domain::PlanStep& step : plan.steps) {
    text += stepText(step) + '\n';
  }
  return text;
}

std::string factTable(const std::string& heading, const std::string& a, const std::string& b,
                      const std::vector<ComparedFact>& facts) {
  std::vector<std::vector<std::string>> rows{{heading, a, b}};
  for (const ComparedFact& fact : facts) {
    rows.push_back({fact.name, fact.a, fact.b});
  }
  return formatTable(rows);
}

std::string speedText(const SpeedComparison& speed) {
  if (!speed.ratio.isKnown()) {
    return "not compared: " + speed.obstacle + '\n';
  }
  const std::string ratio = formatSpeedupInterval(speed.ratio);
  if (!speed.isSignificant()) {
    return painted(Tone::Warning, "No significant difference") +
           fmt::format(": B is {} as fast as A ({})\n", ratio, speed.how);
  }
  const bool isFaster = speed.ratio.value > 1.0;
  return painted(isFaster ? Tone::Good : Tone::Bad, isFaster ? "B is faster" : "B is slower") +
         fmt::format(": {} as fast as A ({})\n", ratio, speed.how);
}

// Without regions where it was not synthesised.
domain::Genome regionsOf(const ComparedSide& one) {
  return saidGenome(one.detail).value_or(domain::Genome());
}

domain::Json sideJson(const ComparedSide& one) {
  domain::Json json = toJson(one.detail.row);
  const domain::Speedup eager = overEager(one);
  json["project"] = one.project.string();
  json["task"] = one.run.taskName;
  json["device"] = one.run.device.name;
  json["over_eager"] =
      eager.isKnown() ? domain::Json{{"value", eager.value}, {"low", eager.low}, {"high", eager.high}} : domain::Json();
  const std::optional<domain::Genome> genome = saidGenome(one.detail);
  json["genome"] = genome ? domain::toJson(*genome) : domain::Json();
  json["plan"] = domain::toJson(one.detail.program.plan);
  return json;
}

domain::Json factsJson(const std::vector<ComparedFact>& facts) {
  domain::Json json = domain::Json::array();
  for (const ComparedFact& fact : facts) {
    json.push_back({{"name", fact.name}, {"a", fact.a}, {"b", fact.b}});
  }
  return json;
}

}  // namespace

SpeedComparison compareSpeed(const ComparedSide& a, const ComparedSide& b) {
  SpeedComparison result;
  for (const ComparedSide* one : {&a, &b}) {
    if (one->detail.row.timeNs <= 0.0) {
      result.obstacle =
          fmt::format("candidate {} has no time: {}", one->detail.row.id.value(), domain::name(one->detail.row.status));
      return result;
    }
  }
  if (a.run.taskId != b.run.taskId) {
    result.obstacle = "these are different tasks";
    return result;
  }
  if (a.run.device.uuid != b.run.device.uuid || a.run.device.name != b.run.device.name) {
    result.obstacle = "they were measured on different devices";
    return result;
  }
  const domain::Speedup eagerA = overEager(a);
  const domain::Speedup eagerB = overEager(b);
  if (eagerA.isKnown() && eagerB.isKnown() && eagerA.low > 0.0) {
    // Eager moves as the candidate does when the machine is slower for a while.
    result.ratio = eagerB.times({1.0 / eagerA.value, 1.0 / eagerA.high, 1.0 / eagerA.low});
    result.how = "each interleaved with eager PyTorch";
  } else {
    result.ratio = domain::Speedup::ofTimes(timesOf(a), timesOf(b));
    result.how = "times as measured";
  }
  return result;
}

std::vector<ComparedFact> compareFacts(const ComparedSide& a, const ComparedSide& b) {
  std::vector<ComparedFact> facts;
  const auto add = [&](const char* name, auto text) { facts.push_back({name, orDash(text(a)), orDash(text(b))}); };
  using One = const ComparedSide&;
  if (a.project != b.project) {
    add("project", [](One one) { return one.project.string(); });
  }
  if (a.run.id != b.run.id || a.project != b.project) {
    add("task", [](One one) { return one.run.taskName; });
    add("device", [](One one) { return one.run.device.name; });
  }
  add("status", [](One one) { return std::string(domain::name(one.detail.row.status)); });
  add("time",
      [](One one) { return formatInterval(one.detail.row.timeNs, one.detail.row.lowNs, one.detail.row.highNs); });
  add("speedup", [](One one) { return formatSpeedupInterval(one.detail.row.speedup); });
  add("speedup over eager", [](One one) { return formatSpeedupInterval(overEager(one)); });
  add("% of roofline", [](One one) { return formatPercent(one.detail.row.roofShare); });
  add("relative error", [](One one) {
    return correctOf(one) != nullptr ? fmt::format("{:.2g}", one.detail.row.relativeError) : std::string();
  });
  add("accuracy", [](One one) {
    return correctOf(one) != nullptr ? std::string(domain::name(correctOf(one)->accuracy)) : std::string();
  });
  add("launches", [](One one) {
    const domain::LaunchPlan& plan = one.detail.program.plan;
    return fmt::format("{}{}", plan.launchCount(), plan.isCaptured ? ", as one CUDA graph" : "");
  });
  add("registers",
      [](One one) { return one.detail.row.registers > 0 ? std::to_string(one.detail.row.registers) : std::string(); });
  add("spilled bytes", [](One one) { return sumText(one, [](const auto& kernel) { return kernel.spillBytes; }); });
  add("static shared bytes",
      [](One one) { return sumText(one, [](const auto& kernel) { return kernel.staticSharedBytes; }); });
  add("cell", [](One one) { return one.detail.row.cell ? one.detail.row.cell->name() : std::string(); });
  add("made by", [](One one) { return std::string(domain::name(one.detail.row.madeBy)); });
  add("lines of source", [](One one) {
    const std::string& source = one.detail.program.source;
    return std::to_string(std::count(source.begin(), source.end(), '\n'));
  });
  return facts;
}

std::vector<ComparedFact> compareParameters(const domain::Genome& a, const domain::Genome& b) {
  std::set<std::vector<int>> regions;
  for (const domain::Genome* genome : {&a, &b}) {
    for (const domain::RegionGene& region : genome->regions) {
      regions.insert(region.nodes);
    }
  }
  std::vector<ComparedFact> facts;
  if (a.rewrites != b.rewrites) {
    facts.push_back({"rewritten", rewritesText(a), rewritesText(b)});
  }
  for (const std::vector<int>& nodes : regions) {
    compareRegions(facts, nodes, regionOf(a, nodes), regionOf(b, nodes));
  }
  return facts;
}

std::vector<std::string> comparePlans(const domain::LaunchPlan& a, const domain::LaunchPlan& b) {
  const std::string diff = unifiedDiff(planText(a), planText(b), "A", "B");
  std::vector<std::string> lines;
  std::string_view rest = diff;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (!line.starts_with("--- ") && !line.starts_with("+++ ") && !line.starts_with("@@")) {
      lines.emplace_back(line);
    }
  }
  return lines;
}

ComparisonDiffs diffsOf(const ComparedSide& a, const ComparedSide& b, bool source, bool assembly) {
  const std::string nameA = "A: candidate " + nameOf(a);
  const std::string nameB = "B: candidate " + nameOf(b);
  ComparisonDiffs diffs;
  if (source) {
    diffs.source = unifiedDiff(a.detail.program.source, b.detail.program.source, nameA, nameB);
  }
  if (assembly) {
    const domain::ListingOptions options{.addresses = false};
    diffs.assembly = unifiedDiff(domain::readableListing(a.detail.assembly, options).text,
                                 domain::readableListing(b.detail.assembly, options).text, nameA, nameB);
  }
  return diffs;
}

std::string comparisonText(const ComparedSide& a, const ComparedSide& b, const ComparisonDiffs& diffs) {
  const std::string nameA = "A: " + nameOf(a);
  const std::string nameB = "B: " + nameOf(b);
  std::string text = factTable("", nameA, nameB, compareFacts(a, b)) + '\n' + speedText(compareSpeed(a, b));
  const std::vector<ComparedFact> parameters = compareParameters(regionsOf(a), regionsOf(b));
  text += parameters.empty() ? "\nparameters  equal\n" : '\n' + factTable("parameters", nameA, nameB, parameters);
  const std::vector<std::string> plan = comparePlans(a.detail.program.plan, b.detail.program.plan);
  if (plan.empty()) {
    text += "\nlaunch plan  equal\n";
  } else {
    text += '\n' + painted(Tone::Heading, "launch plan") + '\n' + paintedDiff(fmt::format("{}", fmt::join(plan, "\n")));
  }
  for (const auto& [name, diff] : {std::pair("source", &diffs.source), std::pair("assembly", &diffs.assembly)}) {
    if (*diff) {
      text += (*diff)->empty() ? fmt::format("\n{}  equal\n", name) : '\n' + paintedDiff(**diff);
    }
  }
  return text;
}

domain::Json comparisonJson(const ComparedSide& a, const ComparedSide& b, const ComparisonDiffs& diffs) {
  const SpeedComparison speed = compareSpeed(a, b);
  domain::Json json = {{"a", sideJson(a)},
                       {"b", sideJson(b)},
                       {"facts", factsJson(compareFacts(a, b))},
                       {"parameters", factsJson(compareParameters(regionsOf(a), regionsOf(b)))},
                       {"plan", comparePlans(a.detail.program.plan, b.detail.program.plan)},
                       {"ratio", nullptr},
                       {"not_compared", speed.obstacle.empty() ? domain::Json() : domain::Json(speed.obstacle)},
                       {"source_diff", diffs.source ? domain::Json(*diffs.source) : domain::Json()},
                       {"assembly_diff", diffs.assembly ? domain::Json(*diffs.assembly) : domain::Json()}};
  if (speed.ratio.isKnown()) {
    json["ratio"] = {{"value", speed.ratio.value},
                     {"low", speed.ratio.low},
                     {"high", speed.ratio.high},
                     {"significant", speed.isSignificant()},
                     {"how", speed.how}};
  }
  return json;
}

}  // namespace swage::cli
