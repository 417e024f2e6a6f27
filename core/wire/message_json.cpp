// SPDX-License-Identifier: Apache-2.0
#include "core/wire/message_json.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/domain/json_reader.h"

namespace swage::wire {
namespace {

using domain::Json;
using domain::JsonReader;
using domain::numberToJson;

constexpr std::size_t kMaxName = 4096;

Json bytesToJson(const std::string& bytes) {
  return Json::binary({bytes.begin(), bytes.end()});
}

template <class T>
Json listToJson(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) {
    list.push_back(domain::toJson(item));
  }
  return list;
}

std::vector<std::string> readTexts(const JsonReader& reader) {
  return reader.list([](const JsonReader& item) { return item.text(kMaxName); });
}

std::optional<ErrorKind> parseErrorKind(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(ErrorKind::Internal); ++i) {
    if (name(static_cast<ErrorKind>(i)) == text) {
      return static_cast<ErrorKind>(i);
    }
  }
  return std::nullopt;
}

Json errorToJson(const Error& error) {
  return {{"kind", name(error.kind())}, {"message", error.message()}, {"hint", error.hint()}};
}

Error readError(const JsonReader& reader) {
  return {reader["kind"].word(parseErrorKind), reader["message"].text(), reader["hint"].text()};
}

constexpr std::array<std::string_view, 8> kSynthesisCalls{
    "fresh", "seeds", "vary", "neighbours", "realise", "covered_nodes", "reachable_cells", "estimate"};

template <class T>
Json optionalToJson(const std::optional<T>& value) {
  return value ? domain::toJson(*value) : Json();
}

// A member that may be null, read with `read` where it is not.
template <class Read>
auto readOptional(const JsonReader& reader, std::string_view member, Read read) {
  using Value = decltype(read(reader));
  return reader.has(member) ? std::optional<Value>(read(reader[member])) : std::nullopt;
}

Json compileRequestToJson(const domain::CompileRequest& value) {
  return {{"language", name(value.language)},
          {"source", value.source},
          {"entries", value.entries},
          {"architecture", value.architecture},
          {"flags", value.flags}};
}

domain::CompileRequest readCompileRequest(const JsonReader& reader) {
  return {reader["language"].word(domain::parseLanguage), reader["source"].text(), readTexts(reader["entries"]),
          reader["architecture"].text(kMaxName), readTexts(reader["flags"])};
}

struct OutcomeWriter {
  Json operator()(const domain::CompiledBinary& value) const {
    return {{"bytes", bytesToJson(value.bytes)},
            {"assembly", value.assembly},
            {"log", value.log},
            {"kernels", listToJson(value.kernels)},
            {"binary_hash", value.binaryHash},
            {"seconds", numberToJson(value.seconds)}};
  }
  Json operator()(const domain::CompileFailed& value) const {
    return {{"reason", name(value.reason)}, {"log", value.log}};
  }
};

domain::CompileOutcome readOutcome(const JsonReader& reader) {
  if (reader.has("reason")) {
    return domain::CompileFailed{reader["reason"].word(domain::parseCompileFailureReason), reader["log"].text()};
  }
  return domain::CompiledBinary{reader["bytes"].binary(),
                                reader["assembly"].text(),
                                reader["log"].text(),
                                reader["kernels"].list(domain::readKernelFacts),
                                reader["binary_hash"].text(kMaxName),
                                reader["seconds"].number()};
}

struct MessageWriter {
  Json operator()(const Hello& value) const {
    return {{"protocol", value.protocol}, {"program", value.program}, {"revision", value.revision}};
  }
  Json operator()(const LoadTask& value) const {
    return {{"task", domain::toJson(value.task)},
            {"weights_path", value.weightsPath},
            {"base_seed", value.baseSeed},
            {"check_seeds", value.checkSeeds},
            {"timing_budget_seconds", numberToJson(value.timingBudgetSeconds)},
            {"time_eager", value.timeEager},
            {"adversarial", value.adversarial},
            {"held_back_seeds", value.heldBackSeeds}};
  }
  Json operator()(const Evaluate& value) const {
    return {{"request", value.request},
            {"plan", domain::toJson(value.plan)},
            {"binary", bytesToJson(value.binary)},
            {"screening_ns", numberToJson(value.screeningNs)},
            {"contender_ns", numberToJson(value.contenderNs)},
            {"timing_budget_seconds", numberToJson(value.timingBudgetSeconds)},
            {"min_samples", value.minSamples},
            {"max_samples", value.maxSamples},
            {"limit_seconds", numberToJson(value.limitSeconds)},
            {"held_back", value.heldBack},
            {"check_seconds", numberToJson(value.checkSeconds)},
            {"verify_only", value.verifyOnly},
            {"time_launches", value.timeLaunches}};
  }
  Json operator()(const ProfileRequest& value) const {
    return {{"request", value.request},
            {"plan", domain::toJson(value.plan)},
            {"binary", bytesToJson(value.binary)},
            {"counters", value.counters},
            {"sample_lines", value.sampleLines},
            {"limit_seconds", numberToJson(value.limitSeconds)}};
  }
  Json operator()(const Profiled& value) const {
    return {
        {"request", value.request}, {"profile", domain::toJson(value.profile)}, {"worker_exits", value.workerExits}};
  }
  Json operator()(const MakeRoom&) const { return Json::object(); }
  Json operator()(const RoomMade& value) const { return {{"free_bytes", value.freeBytes}}; }
  Json operator()(const Shutdown&) const { return Json::object(); }
  Json operator()(const WorkerReady& value) const {
    return {{"device", domain::toJson(value.device)}, {"torch_version", value.torchVersion}};
  }
  Json operator()(const TaskReady& value) const {
    return {{"eager", domain::toJson(value.eager)},
            {"eager_errors", listToJson(value.eagerErrors)},
            {"reference_type", value.referenceType},
            {"peak_bytes", value.peakBytes},
            {"doubts", value.doubts}};
  }
  Json operator()(const TaskRefused& value) const {
    return {{"kind", name(value.kind)}, {"message", value.message}, {"hint", value.hint}};
  }
  Json operator()(const Evaluated& value) const {
    return {{"request", value.request},
            {"evaluation", domain::toJson(value.evaluation)},
            {"verify_seconds", numberToJson(value.verifySeconds)},
            {"timing_seconds", numberToJson(value.timingSeconds)},
            {"worker_exits", value.workerExits}};
  }
  Json operator()(const Heartbeat& value) const { return {{"request", value.request}, {"stage", value.stage}}; }
  Json operator()(const Compile& value) const {
    return {{"request", value.request},
            {"what", compileRequestToJson(value.what)},
            {"limit_seconds", numberToJson(value.limitSeconds)},
            {"memory_limit_bytes", value.memoryLimitBytes}};
  }
  Json operator()(const Compiled& value) const {
    return {{"request", value.request}, {"outcome", std::visit(OutcomeWriter{}, value.outcome)}};
  }
  Json operator()(const OpenSynthesis& value) const {
    return {{"request", value.request},
            {"graph", domain::toJson(value.graph)},
            {"device", domain::toJson(value.device)},
            {"patterns", value.patterns}};
  }
  Json operator()(const Synthesise& value) const {
    return {{"request", value.request},
            {"call", name(value.call)},
            {"genome", domain::toJson(value.genome)},
            {"other", optionalToJson(value.other)},
            {"aim", value.aim ? Json(value.aim->index()) : Json()},
            {"kind", domain::name(value.kind)},
            {"random_state", value.randomState}};
  }
  Json operator()(const Synthesised& value) const {
    return {{"request", value.request},
            {"genomes", listToJson(value.genomes)},
            {"program", optionalToJson(value.program)},
            {"nodes", value.nodes},
            {"cells", value.cells},
            {"random_state", value.randomState},
            {"error", value.error ? errorToJson(*value.error) : Json()},
            {"seconds", value.seconds}};
  }
};

template <class T>
T read(const JsonReader& reader);

template <>
Hello read(const JsonReader& reader) {
  return {static_cast<std::uint32_t>(reader["protocol"].integer(0, 0xFFFFFFFFLL)), reader["program"].text(kMaxName),
          reader["revision"].text(kMaxName)};
}

template <>
LoadTask read(const JsonReader& reader) {
  return {domain::readTask(reader["task"]),         reader["weights_path"].text(kMaxName),
          reader["base_seed"].unsignedInteger(),    reader["check_seeds"].smallInteger(1, 1000),
          reader["timing_budget_seconds"].number(), reader["time_eager"].boolean(),
          reader["adversarial"].boolean(),          reader["held_back_seeds"].smallInteger(0, 1000)};
}

template <>
Evaluate read(const JsonReader& reader) {
  return {reader["request"].unsignedInteger(),
          domain::readLaunchPlan(reader["plan"]),
          reader["binary"].binary(),
          reader["screening_ns"].number(),
          reader["contender_ns"].number(),
          reader["timing_budget_seconds"].number(),
          reader["min_samples"].smallInteger(0),
          reader["max_samples"].smallInteger(0),
          reader["limit_seconds"].number(),
          reader["held_back"].boolean(),
          reader["check_seconds"].number(),
          reader["verify_only"].boolean(),
          reader["time_launches"].boolean()};
}

template <>
ProfileRequest read(const JsonReader& reader) {
  return {reader["request"].unsignedInteger(), domain::readLaunchPlan(reader["plan"]),
          reader["binary"].binary(),           reader["counters"].boolean(),
          reader["sample_lines"].boolean(),    reader["limit_seconds"].number()};
}

template <>
Profiled read(const JsonReader& reader) {
  return {reader["request"].unsignedInteger(), domain::readProfile(reader["profile"]),
          reader["worker_exits"].boolean()};
}

template <>
MakeRoom read(const JsonReader&) {
  return {};
}

template <>
RoomMade read(const JsonReader& reader) {
  return {reader["free_bytes"].integer(0)};
}

template <>
Shutdown read(const JsonReader&) {
  return {};
}

template <>
WorkerReady read(const JsonReader& reader) {
  return {domain::readDeviceInfo(reader["device"]), reader["torch_version"].text(kMaxName)};
}

template <>
TaskReady read(const JsonReader& reader) {
  return {domain::readTiming(reader["eager"]), reader["eager_errors"].list(domain::readOutputError),
          reader["reference_type"].text(kMaxName), reader["peak_bytes"].integer(0), readTexts(reader["doubts"])};
}

template <>
TaskRefused read(const JsonReader& reader) {
  return {reader["kind"].word(parseErrorKind), reader["message"].text(), reader["hint"].text()};
}

template <>
Evaluated read(const JsonReader& reader) {
  return {reader["request"].unsignedInteger(), domain::readEvaluation(reader["evaluation"]),
          reader["verify_seconds"].number(), reader["timing_seconds"].number(), reader["worker_exits"].boolean()};
}

template <>
Heartbeat read(const JsonReader& reader) {
  return {reader["request"].unsignedInteger(), reader["stage"].text(kMaxName)};
}

template <>
Compile read(const JsonReader& reader) {
  return {reader["request"].unsignedInteger(), readCompileRequest(reader["what"]), reader["limit_seconds"].number(),
          reader["memory_limit_bytes"].integer(0)};
}

template <>
Compiled read(const JsonReader& reader) {
  return {reader["request"].unsignedInteger(), readOutcome(reader["outcome"])};
}

template <>
OpenSynthesis read(const JsonReader& reader) {
  return {reader["request"].unsignedInteger(), domain::readGraph(reader["graph"]),
          domain::readDeviceInfo(reader["device"]), reader["patterns"].text(kMaxName)};
}

template <>
Synthesise read(const JsonReader& reader) {
  const auto readCell = [](const JsonReader& index) {
    return domain::Cell::fromIndex(index.smallInteger(0, domain::kCellCount - 1));
  };
  return {reader["request"].unsignedInteger(),     reader["call"].word(parseSynthesisCall),
          domain::readGenome(reader["genome"]),    readOptional(reader, "other", domain::readGenome),
          readOptional(reader, "aim", readCell),   reader["kind"].word(domain::parseOperatorKind),
          reader["random_state"].unsignedInteger()};
}

template <>
Synthesised read(const JsonReader& reader) {
  return {reader["request"].unsignedInteger(),
          reader["genomes"].list(domain::readGenome),
          readOptional(reader, "program", domain::readProgram),
          reader["nodes"].list([](const JsonReader& node) { return node.smallInteger(0); }),
          reader["cells"].list([](const JsonReader& cell) { return cell.smallInteger(0, domain::kCellCount - 1); }),
          reader["random_state"].unsignedInteger(),
          readOptional(reader, "error", readError),
          reader["seconds"].list([](const JsonReader& seconds) { return seconds.number(); })};
}

// One reader for each alternative of Message, in its order.
template <std::size_t... Indices>
constexpr auto makeReaders(std::index_sequence<Indices...>) {
  using Reader = Message (*)(const JsonReader&);
  return std::array<Reader, sizeof...(Indices)>{+[](const JsonReader& reader) -> Message {
    return read<std::variant_alternative_t<Indices, Message>>(reader);
  }...};
}

constexpr auto kReaders = makeReaders(std::make_index_sequence<std::variant_size_v<Message>>{});
static_assert(kReaders.size() == kMaxMessageType, "PROTOCOL.md numbers the alternatives of Message from 1");

}  // namespace

std::string_view name(Synthesise::Call call) {
  return kSynthesisCalls[static_cast<std::size_t>(call)];
}

std::optional<Synthesise::Call> parseSynthesisCall(std::string_view text) {
  const auto* found = std::find(kSynthesisCalls.begin(), kSynthesisCalls.end(), text);
  return found == kSynthesisCalls.end() ? std::nullopt
                                        : std::optional(static_cast<Synthesise::Call>(found - kSynthesisCalls.begin()));
}

std::uint8_t messageType(const Message& message) {
  return static_cast<std::uint8_t>(message.index() + 1);
}

Json toJson(const Message& message) {
  return std::visit(MessageWriter{}, message);
}

Result<Message> messageFromJson(std::uint8_t type, const Json& json) {
  if (type < 1 || type > kMaxMessageType) {
    return Error(ErrorKind::Protocol, "there is no message of type " + std::to_string(type));
  }
  return domain::readJson(json, "message", kReaders[type - 1U]);
}

}  // namespace swage::wire
