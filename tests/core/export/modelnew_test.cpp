// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/core/export/fixtures.h"
#include "tests/core/export/golden.h"
#include "tests/support/elf_file.h"
#include "tests/support/result_matchers.h"

namespace swage::exporting {
namespace {

using swage::testing::IsError;
using swage::testing::IsOk;
using testing::expectGolden;
using ::testing::HasSubstr;
using ::testing::Not;

std::string exported(const ModelNewInput& input) {
  const auto text = writeModelNew(input);
  EXPECT_THAT(text, IsOk());
  return text.value_or("");
}

// The rules of KernelBench's static checker that reject a file, over the text without # and // comments.
std::vector<std::string> refusals(const std::string& text, bool isCuda) {
  static const std::regex comment(R"((#|//)[^\n]*)");
  const std::string code = std::regex_replace(text, comment, "");
  const std::vector<std::string> forbidden = {
      R"(\btry\s*:)",
      R"(\bexcept\s*:)",
      R"(\bexcept\s+\w+)",
      R"(\bpass\b)",
      R"(import\s+threading)",
      R"(from\s+threading)",
      R"(import\s+multiprocessing)",
      R"(concurrent\.futures)",
      R"(_make_subclass)",
      R"(class\s+\w+.*\((torch\.)?Tensor\))",
      R"(torch\.Tensor\.__new__)",
      R"((torch\.cuda\.(Event|synchronize)|time\.(time|perf_counter))[\w.]*\s*=)"};
  std::vector<std::string> found;
  for (const std::string& rule : forbidden) {
    if (std::regex_search(code, std::regex(rule))) {
      found.push_back(rule);
    }
  }
  const bool compiles =
      code.find("load_inline") != std::string::npos || code.find("cpp_extension") != std::string::npos;
  if (isCuda && (code.find("__global__") == std::string::npos || !compiles)) {
    found.emplace_back("no CUDA kernel");
  }
  return found;
}

TEST(ModelNew, WritesTheGoldenFileOfASmallPlan) {
  expectGolden("relu_modelnew.py", exported(testing::reluExport()));
}

TEST(ModelNew, WritesTheGoldenFileOfAPlanWithState) {
  expectGolden("counting_modelnew.py", exported(testing::countingLinearExport()));
}

TEST(ModelNew, IsPytorchsOwnWayWhereThatWins) {
  ModelNewInput input = testing::reluExport();
  input.pytorchMode = "max-autotune";
  input.provenance.madeBy = domain::OperatorKind::Baseline;
  input.provenance.speedup = {};
  const std::string compiled = exported(input);
  expectGolden("relu_max_autotune.py", compiled);
  input.pytorchMode = "eager";
  expectGolden("relu_eager.py", exported(input));
  input.pytorchMode = "compile";
  EXPECT_THAT(exported(input), HasSubstr("        self.compile()\n"));
  for (const char* guard : {"_swage", "is_compiling", "def forward(self, *args"}) {
    EXPECT_THAT(compiled, Not(HasSubstr(guard)));
  }
}

TEST(ModelNew, IsAcceptedByTheRulesOfKernelBench) {
  EXPECT_THAT(refusals(exported(testing::reluExport()), false), ::testing::IsEmpty());
  EXPECT_THAT(refusals(exported(testing::countingLinearExport()), false), ::testing::IsEmpty());
  EXPECT_THAT(refusals(exported(testing::reluExport(domain::DeviceKind::Cuda)), true), ::testing::IsEmpty());
}

TEST(ModelNew, CarriesTheCudaSourceBinaryAndGeometry) {
  const std::string text = exported(testing::reluExport(domain::DeviceKind::Cuda));
  EXPECT_THAT(text, HasSubstr("extern \"C\" __global__ void relu_kernel(const float* x, float* out, int n) {"));
  EXPECT_THAT(
      text,
      HasSubstr("    dict(entry=\"relu_kernel\", types=\"PPi\", grid=(4, 1, 1), block=(256, 1, 1), shared=0),\n"));
  EXPECT_THAT(text, HasSubstr("_SWAGE_CAPABILITY = (9, 0)"));
  EXPECT_THAT(text, ::testing::ContainsRegex("\n_SWAGE_BINARIES = .\n    [a-z0-9_.(]+\"[A-Za-z0-9+/=]+\".., *\n.\n$"))
      << "at the end, on one line";
  EXPECT_THAT(text, Not(HasSubstr("_swage_huge_pages")));
}

TEST(ModelNew, CarriesEachOfSeveralCubins) {
  ModelNewInput input = testing::reluExport(domain::DeviceKind::Cuda);
  input.binary = swage::testing::elfFile({"sum"}) + swage::testing::elfFile({"scale"});
  EXPECT_THAT(exported(input),
              ::testing::ContainsRegex("\n_SWAGE_BINARIES = .\n(    _zlib[^\n]*,\n)(    _zlib[^\n]*,\n).\n$"));
}

TEST(ModelNew, WritesClusterAndCooperativeLaunches) {
  ModelNewInput input = testing::reluExport(domain::DeviceKind::Cuda);
  auto& step = std::get<domain::KernelStep>(input.program.plan.steps[0]);
  step.cluster = {2, 1, 1};
  step.dynamicSharedBytes = 65536;
  EXPECT_THAT(exported(input), HasSubstr("shared=65536, attributes=((4, 0, 2, 1, 1), )),\n"));
  step.cluster = {};
  step.cooperative = true;
  EXPECT_THAT(exported(input), HasSubstr("shared=65536, attributes=((2, 0, 1, 0, 0), )),\n"));
  step.grid = {16};
  step.cluster = {16};
  const std::string large = exported(input);
  EXPECT_THAT(large, HasSubstr("if step[\"shared\"] > 0:"));
  EXPECT_THAT(large, HasSubstr("if step[\"entry\"] in (\"relu_kernel\", ):"));
  EXPECT_THAT(exported(testing::reluExport(domain::DeviceKind::Cuda)), Not(HasSubstr("cuFuncSetAttribute")));
}

TEST(ModelNew, LaunchesACapturedPlanAsOneCudaGraph) {
  ModelNewInput input = testing::reluExport(domain::DeviceKind::Cuda);
  EXPECT_THAT(exported(input), Not(HasSubstr("CUDAGraph")));
  input.program.plan.isCaptured = true;
  const std::string text = exported(input);
  EXPECT_THAT(text, HasSubstr("\nimport _thread\n"));
  EXPECT_THAT(text, HasSubstr("\n_SWAGE_WRITTEN = ()  # "));
  EXPECT_THAT(text, HasSubstr("            outputs = self._swage_run(case, tensors)\n"));
  EXPECT_THAT(text, HasSubstr("        outputs = _swage_captured(case, tensors)\n"
                              "        if outputs is not None:\n"
                              "            return outputs\n"
                              "        outputs = _swage_plan(case.steps, case.device, *tensors)\n"
                              "        return outputs[0:]\n"));
  EXPECT_THAT(refusals(text, true), ::testing::IsEmpty());
}

TEST(ModelNew, SaysWhatACapturedPlanWithoutKernelsIs) {
  ModelNewInput input = testing::deepExport();
  input.program.plan.isCaptured = true;
  EXPECT_THAT(exported(input), Not(HasSubstr("CUDAGraph"))) << "a CPU has no CUDA graphs";
  input.program.language = domain::Language::CudaCpp;
  const std::string text = exported(input);
  EXPECT_THAT(text, HasSubstr("forward runs PyTorch's own operators as one CUDA graph."));
  EXPECT_THAT(text, HasSubstr("Model as one CUDA graph of PyTorch's operators."));
  EXPECT_THAT(text, Not(HasSubstr("verified kernels.")));
  EXPECT_THAT(refusals(text, false), ::testing::IsEmpty());
}

TEST(ModelNew, WritesTensorMaps) {
  const std::string text = exported(testing::mapExport());
  EXPECT_THAT(text,
              HasSubstr("_swage_map0 = _SwageTensorMap(\n    element=7, offset=32, sizes=(64, 15), strides=(256,), "
                        "box=(32, 8), steps=(1, 1),\n    swizzle=3, promotion=2, fill=0)\n"));
  EXPECT_THAT(text, HasSubstr("steps[0](v0.data_ptr(), _swage_map0[v0.data_ptr()], 5, _swage_map0[v1.data_ptr()], "
                              "v1.data_ptr())"));
  EXPECT_THAT(text, HasSubstr("types=\"P128si128sP\""));
  EXPECT_THAT(refusals(text, true), ::testing::IsEmpty());
  EXPECT_THAT(exported(testing::reluExport(domain::DeviceKind::Cuda)), Not(HasSubstr("TensorMap")));
}

TEST(ModelNew, RefusesATensorMapOnACpu) {
  ModelNewInput input = testing::mapExport();
  input.program.language = domain::Language::Cpp;
  EXPECT_THAT(writeModelNew(input), IsError(ErrorKind::InvalidInput, HasSubstr("no kernel on a CPU")));
}

TEST(ModelNew, CarriesSmallConstants) {
  ModelNewInput input = testing::reluExport();
  input.task.graph.inputs.push_back({domain::ValueId(1), domain::InputKind::Constant, "mask"});
  input.program.plan.inputs.emplace_back(1);
  EXPECT_THAT(writeModelNew(input), IsError(ErrorKind::InvalidInput, HasSubstr("constant mask is missing")));
  input.constants["mask"] = std::string(16 * 64 * 4, '\1');
  EXPECT_THAT(exported(input), HasSubstr("    v1 = _swage_constant(0, device)\n"));
}

TEST(ModelNew, RefusesLargeConstants) {
  ModelNewInput input = testing::reluExport();
  const auto large = domain::contiguousTensor(domain::ScalarType::Float32, {1 << 20});
  input.task.graph.values[1] = large;
  input.program.plan.buffers[1] = large;
  input.task.graph.inputs.push_back({domain::ValueId(1), domain::InputKind::Constant, "table"});
  input.program.plan.inputs.emplace_back(1);
  input.constants["table"] = std::string(4 << 20, '\0');
  EXPECT_THAT(writeModelNew(input), IsError(ErrorKind::Unsupported, HasSubstr("table")));
}

TEST(ModelNew, RefusesAPlanThatDoesNotFitItsGraph) {
  ModelNewInput input = testing::reluExport();
  input.program.plan.inputs.clear();
  EXPECT_THAT(writeModelNew(input), IsError(ErrorKind::InvalidInput, HasSubstr("0 inputs and 1 outputs")));
}

TEST(ModelNew, RefusesAnOutputThatNothingWrites) {
  ModelNewInput input = testing::reluExport();
  input.program.plan.steps.clear();
  EXPECT_THAT(writeModelNew(input), IsError(ErrorKind::InvalidInput, HasSubstr("which no step writes")));
}

TEST(ModelNew, RefusesAMalformedCall) {
  ModelNewInput input = testing::reluExport();
  for (const char* call :
       {"{", R"({"result": {"set": []}})", R"({"result": {"tuple": []}})", R"({"args": {"tuple": []}})",
        R"({"args": {"tuple": [{"list": [{"tensor": 0}, {"tensor": 1}]}]}})", R"({"names": ["x) or (y"]})",
        R"({"result": {"dict": {"y": {"tensor": 0}}, "type": ["a", "B; import os"]}})",
        R"({"result": {"tuple": [{"tensor": 0}], "type": ["B"]}})", R"({"result": {"type": ["a", "B"]}})"}) {
    input.call = call;
    EXPECT_THAT(writeModelNew(input), IsError(ErrorKind::InvalidInput, HasSubstr("cannot export the launch plan")))
        << call;
  }
}

TEST(ModelNew, MatchesPlainArgumentsBesideTensors) {
  ModelNewInput input = testing::reluExport();
  input.call = R"({"args": {"tuple": [{"tensor": 0}, {"constant": 3.0}]}, "result": {"dict": {"y": {"tensor": 0}}}})";
  const std::string text = exported(input);
  EXPECT_THAT(text, HasSubstr("if not _swage_match((_SwageTensor, 3.0), args, tensors):"));
  EXPECT_THAT(text, HasSubstr("return {\"y\": outputs[0]}"));
}

TEST(ModelNew, ReturnsTheClassThatTheModelReturns) {
  ModelNewInput input = testing::reluExport();
  input.call = R"({"result": {"dict": {"y": {"tensor": 0}}, "type": ["some.outputs", "Output"]}})";
  std::string text = exported(input);
  EXPECT_THAT(text, HasSubstr("\nfrom some.outputs import Output as _SwageClass0\n"));
  EXPECT_THAT(text, HasSubstr("return _SwageClass0(**{\"y\": outputs[0]})"));
  input.call = R"({"result": {"tuple": [{"tensor": 0}], "type": ["", "Pair"]}})";
  text = exported(input);
  EXPECT_THAT(text, HasSubstr("\n_SwageClass0 = Pair\n"));
  EXPECT_THAT(text, HasSubstr("return _SwageClass0(outputs[0])"));
}

TEST(ModelNew, TakesArgumentsByTheirNames) {
  ModelNewInput input = testing::reluExport();
  EXPECT_THAT(exported(input), ::testing::Not(HasSubstr("_SWAGE_NAMES")));
  input.call = R"({"args": {"tuple": [{"tensor": 0}]}, "names": ["x"]})";
  const std::string text = exported(input);
  EXPECT_THAT(text, HasSubstr("\n_SWAGE_NAMES = (\"x\",)  # of forward's arguments\n"));
  EXPECT_THAT(text, HasSubstr("        if kwargs and kwargs.keys() == set(_SWAGE_NAMES[len(args):]):\n"));
}

TEST(ModelNew, RefusesACudaPlanWithoutItsBinary) {
  ModelNewInput input = testing::reluExport(domain::DeviceKind::Cuda);
  input.binary.clear();
  EXPECT_THAT(writeModelNew(input), IsError(ErrorKind::InvalidInput, HasSubstr("without its compiled kernels")));
}

TEST(ModelNew, RefusesAClassThatTheSourceDoesNotDefine) {
  ModelNewInput input = testing::reluExport();
  input.task.source.className = "Other";
  EXPECT_THAT(writeModelNew(input), IsError(ErrorKind::NotFound, HasSubstr("no class Other")));
}

TEST(ModelNew, ComparesConstructorArgumentsGivenAtImport) {
  ModelNewInput input = testing::reluExport();
  input.init = R"([8, {"bias": true}])";
  EXPECT_THAT(exported(input), HasSubstr("    return [[8, {\"bias\": True}], {}]\n"));
  input.init = R"({"dim": null})";
  EXPECT_THAT(exported(input), HasSubstr("    return [[], {\"dim\": None}]\n"));
  input.init = "[8";
  EXPECT_THAT(writeModelNew(input), IsError(ErrorKind::InvalidInput, HasSubstr("not JSON")));
}

TEST(ModelNew, KeepsProvenanceFromBreakingTheFile) {
  ModelNewInput input = testing::reluExport();
  input.provenance.doubts = {"\"\"\"\nimport os\\"};
  EXPECT_THAT(exported(input), HasSubstr("warning       correctness checks are weak: ''' import os/"));
}

}  // namespace
}  // namespace swage::exporting
