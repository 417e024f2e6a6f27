// SPDX-License-Identifier: Apache-2.0
#include "core/retrieval/sources.h"

#include <algorithm>
#include <array>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "core/base/files.h"
#include "core/patterns/catalogue.h"

namespace swage::retrieval {
namespace {

namespace fs = std::filesystem;
using domain::PatternEntry;
using domain::PatternOrigin;

constexpr std::size_t kMostOfFile = std::size_t{2} << 20U;
constexpr std::size_t kMostOfPiece = 4000;
constexpr std::size_t kMostOfSummary = 400;
constexpr std::size_t kMostFiles = 5000;

// How a file is now. Other contents with the same size at the same time do not happen by hand.
std::string stampOf(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  const auto time = fs::last_write_time(file, failed).time_since_epoch().count();
  return failed ? std::string("?") : fmt::format("{}:{}", size, time);
}

// With one of these endings, below the folder, in the order of their names. What cannot be read is left out.
std::vector<fs::path> filesBelow(const fs::path& folder, const std::vector<std::string_view>& endings) {
  std::vector<fs::path> files;
  std::error_code failed;
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, kOptions, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    const bool isWanted = std::any_of(endings.begin(), endings.end(),
                                      [&name](std::string_view ending) { return name.ends_with(ending); });
    std::error_code ignored;
    if (isWanted && entry->is_regular_file(ignored) && files.size() < kMostFiles) {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string shortened(std::string_view text, std::size_t most) {
  return std::string(text.substr(0, most));
}

// What a manifest says for whoever looks for a pattern; the catalogue reads the rest of it.
struct ManifestWords {
  std::string use;
  std::vector<std::string> operators;
  std::vector<std::string> bottlenecks;
  std::vector<std::string> architectures;
};

Result<ManifestWords> readWords(const fs::path& manifest) {
  SWAGE_TRY_ASSIGN(const std::string text, readTextFile(manifest, kMostOfFile));
  try {
    const toml::table root = toml::parse(text, manifest.string());
    const auto list = [&root](std::string_view name) {
      std::vector<std::string> words;
      if (const toml::array* all = root.get_as<toml::array>(name)) {
        for (const toml::node& one : *all) {
          words.push_back(one.value_or(std::string()));
        }
      }
      return words;
    };
    return ManifestWords{root["use"].value_or(std::string()), list("operators"), list("bottlenecks"),
                         list("architectures")};
  } catch (const toml::parse_error& error) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("'{}', line {}: {}", manifest.string(), error.source().begin.line, error.description()));
  }
}

std::vector<std::string> architecturesOf(const patterns::Pattern& pattern, const ManifestWords& words) {
  if (domain::factsOf(pattern.language).device == domain::DeviceKind::Cpu) {
    return {"x86-64", "cpu"};
  }
  std::vector<std::string> architectures = words.architectures;
  if (architectures.empty()) {
    architectures = {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};
  }
  architectures.emplace_back("cuda");
  return architectures;
}

PatternEntry entryOf(const patterns::Pattern& pattern, const ManifestWords& words) {
  const domain::LanguageFacts& language = domain::factsOf(pattern.language);
  PatternEntry entry;
  entry.key = fmt::format("catalogue/{}/{}", language.patternFolder, pattern.id);
  entry.origin = PatternOrigin::Catalogue;
  std::string spaced = pattern.id;
  std::replace(spaced.begin(), spaced.end(), '_', ' ');
  entry.title =
      fmt::format("{} ({}, {})", spaced, pattern.family, language.device == domain::DeviceKind::Cpu ? "CPU" : "GPU");
  entry.summary = fmt::format("{}. {}", pattern.description, words.use);
  for (const patterns::Parameter& parameter : pattern.parameters) {
    entry.body += fmt::format("{}: {}\n", parameter.name, parameter.description);
  }
  entry.place = fmt::format("patterns/{}/{}", language.patternFolder, pattern.id);
  entry.operators = words.operators;
  entry.bottlenecks = words.bottlenecks;
  entry.types = {"float32"};
  entry.architectures = architecturesOf(pattern, words);
  return entry;
}

Result<std::vector<PatternEntry>> readCatalogue(const fs::path& folder) {
  SWAGE_TRY_ASSIGN(const patterns::Catalogue catalogue, patterns::Catalogue::load(folder));
  std::vector<PatternEntry> entries;
  for (const patterns::Pattern& pattern : catalogue.all()) {
    const std::string_view language = domain::factsOf(pattern.language).patternFolder;
    SWAGE_TRY_ASSIGN(const ManifestWords words, readWords(folder / language / pattern.id / "pattern.toml"));
    entries.push_back(entryOf(pattern, words));
  }
  return entries;
}

// A line that begins something of its own: "def f(", "class C", "@triton.jit", `name = r"""`.
bool beginsPiece(std::string_view line) {
  return line.starts_with("def ") || line.starts_with("class ") || line.starts_with("async def ");
}

std::string nameIn(std::string_view line) {
  const std::size_t begin = line.find(' ') + 1;
  line.remove_prefix(line.starts_with("async def ") ? 10 : begin);
  const std::size_t end = line.find_first_of("(:");
  return std::string(line.substr(0, end));
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// What stands between the first triple quotes, in one line.
std::string docOf(std::string_view text) {
  const std::size_t begin = text.find("\"\"\"");
  if (begin == std::string_view::npos) {
    return {};
  }
  const std::size_t end = std::min(text.find("\"\"\"", begin + 3), text.size());
  std::string doc(text.substr(begin + 3, std::min(end - begin - 3, kMostOfSummary)));
  std::replace(doc.begin(), doc.end(), '\n', ' ');
  return doc;
}

Unit pythonUnit(const fs::path& file, PatternOrigin origin, const std::string& shownName) {
  return {file.string(), stampOf(file), [file, origin, shownName]() -> Result<std::vector<PatternEntry>> {
            SWAGE_TRY_ASSIGN(const std::string text, readTextFile(file, kMostOfFile));
            return piecesOfPython(text, origin, shownName, file.string());
          }};
}

Result<std::vector<PatternEntry>> readCutlass(const fs::path& file, const std::string& shownName) {
  SWAGE_TRY_ASSIGN(const std::string text, readTextFile(file, kMostOfFile));
  PatternEntry entry;
  entry.key = "cutlass/" + shownName;
  entry.origin = PatternOrigin::Cutlass;
  entry.title = "CUTLASS " + shownName;
  // Behind the licence, which begins all files.
  const std::size_t licence = text.find("***************/");
  const std::size_t begin = licence == std::string::npos ? 0 : licence;
  const std::size_t brief = std::min(text.find("\\brief", begin), text.find("\\file", begin));
  entry.summary = shortened(std::string_view(text).substr(brief == std::string::npos ? begin : brief), kMostOfSummary);
  entry.body = shortened(std::string_view(text).substr(begin), kMostOfPiece);
  entry.place = file.string();
  for (const char* architecture : {"sm70", "sm75", "sm80", "sm89", "sm90", "sm100", "sm120"}) {
    if (shownName.find(architecture) != std::string::npos) {
      entry.architectures = {"sm_" + std::string(architecture + 2)};
    }
  }
  return std::vector{entry};
}

}  // namespace

std::vector<Unit> catalogueUnits(const fs::path& folder) {
  std::string stamp;
  for (const fs::path& file : filesBelow(folder, {"pattern.toml"})) {
    stamp += stampOf(file) + ' ';
  }
  return {{"catalogue " + folder.string(), stamp, [folder] { return readCatalogue(folder); }}};
}

std::vector<PatternEntry> piecesOfPython(std::string_view text, PatternOrigin origin, const std::string& shownName,
                                         const std::string& place) {
  std::vector<PatternEntry> pieces;
  const std::vector<std::string_view> lines = linesOf(text);
  const auto add = [&](std::size_t from, std::size_t to, const std::string& name) {
    const char* begin = lines[from].data();
    const std::string_view whole(begin, static_cast<std::size_t>(lines[to - 1].data() + lines[to - 1].size() - begin));
    PatternEntry entry;
    entry.key = fmt::format("{}/{}:{}:{}", domain::name(origin), shownName, name, from + 1);
    entry.origin = origin;
    entry.title = name.empty() ? shownName : fmt::format("{} in {}", name, shownName);
    entry.summary = docOf(whole);
    entry.body = shortened(whole, kMostOfPiece);
    entry.place = fmt::format("{}:{}", place, from + 1);
    pieces.push_back(std::move(entry));
  };
  std::size_t from = 0;
  std::string name;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (beginsPiece(lines[i])) {
      if (i > from) {
        add(from, i, name);
      }
      from = i;
      name = nameIn(lines[i]);
    }
  }
  if (!lines.empty()) {
    add(from, lines.size(), name);
  }
  return pieces;
}

std::vector<Unit> pythonUnits(const fs::path& python) {
  // bin/python of an environment; its packages lie in ../lib/python3.N/site-packages.
  std::vector<Unit> units;
  if (!python.is_absolute()) {
    return units;  // one of the PATH, whose packages are not known
  }
  std::set<std::string> seen;
  std::error_code failed;
  const fs::path libraries = python.parent_path().parent_path() / "lib";
  for (fs::directory_iterator entry(libraries, failed), end; !failed && entry != end; entry.increment(failed)) {
    const fs::path packages = entry->path() / "site-packages";
    for (const auto& [folder, origin] :
         {std::pair("torch/_inductor/kernel", PatternOrigin::Inductor),
          std::pair("torch/_inductor/codegen", PatternOrigin::Inductor),
          std::pair("torch/_inductor/runtime", PatternOrigin::Inductor),
          std::pair("triton/language", PatternOrigin::Triton), std::pair("triton/tools", PatternOrigin::Triton),
          std::pair("triton/experimental", PatternOrigin::Triton)}) {
      for (const fs::path& file : filesBelow(packages / folder, {".py", ".jinja"})) {
        const std::string shown = file.lexically_relative(packages).string();
        if (seen.insert(shown).second) {
          units.push_back(pythonUnit(file, origin, shown));
        }
      }
    }
  }
  return units;
}

std::vector<Unit> cutlassUnits(const fs::path& checkout) {
  std::vector<Unit> units;
  for (const char* folder : {"include/cutlass", "include/cute", "examples"}) {
    for (const fs::path& file : filesBelow(checkout / folder, {".h", ".hpp", ".cu"})) {
      const std::string shown = file.lexically_relative(checkout).string();
      units.push_back({file.string(), stampOf(file), [file, shown] { return readCutlass(file, shown); }});
    }
  }
  return units;
}

}  // namespace swage::retrieval
