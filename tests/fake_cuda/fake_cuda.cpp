// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 without a GPU. Kernels do nothing; memory is the host's. SWAGE_FAKE_CUDA is a list "name=number,…":
//   init=C      cuInit fails with C               context=C  creating a context fails with C
//   devices=N   how many there are (1)            mode=N     compute mode of all of them
//   mps=1       they are shared by MPS            load=C     loading a module fails with C
//   launch=C    a kernel fails with C, which shows at the next wait and sticks
//   lost_at=N   from the N-th call on everything fails with 999
//   alloc_at=N  the N-th allocation fails for want of memory
//   map=C       encoding a tensor map fails with C
//   capture=C   the end of a capture fails with C
//   corrupt=1   memory does not hold what is written to it
// A module is text: one line "NAME SHARED_BYTES MAX_THREADS PARAMETER_BYTES …" for each kernel. Another list resets
// all.
#include <cuda.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Kernel {
  std::string name;
  int sharedBytes = 0;
  int maxThreads = 0;
  std::vector<std::size_t> parameters;
};
using Module = std::map<std::string, Kernel>;

// What was issued while a stream was captured.
struct Graph {
  std::string launches;
  std::string issued;
};

struct State {
  std::string script;
  std::map<std::string, int> faults;
  int calls = 0;
  int allocations = 0;
  CUresult sticky = CUDA_SUCCESS;
  std::map<int, std::size_t> limits;
  std::string launches;
  std::string maps;
  std::uintptr_t mapAddress = 0;
  std::string issued;
  Graph* captured = nullptr;  // while a stream is
};

State& state() {
  static State current;
  const char* script = std::getenv("SWAGE_FAKE_CUDA");
  const std::string wanted = script != nullptr ? script : "";
  if (wanted != current.script) {
    current = {};
    current.script = wanted;
    std::istringstream items(wanted);
    for (std::string item; std::getline(items, item, ',');) {
      const auto equals = item.find('=');
      current.faults[item.substr(0, equals)] = std::atoi(item.substr(equals + 1).c_str());
    }
  }
  return current;
}

const char* endOfLine(CUstream stream) {
  return stream == nullptr ? "\n" : " beside\n";
}

void note(const char* what, CUstream stream) {
  State& now = state();
  (now.captured != nullptr ? now.captured->issued : now.issued) += std::string(what) + endOfLine(stream);
}

int fault(const char* name, int otherwise = 0) {
  const auto& faults = state().faults;
  const auto found = faults.find(name);
  return found == faults.end() ? otherwise : found->second;
}

// Where an argument lies, from the first byte of all.
std::size_t placeOf(const std::vector<std::size_t>& parameters, std::size_t index) {
  constexpr std::size_t start = 0x210;
  std::size_t at = start;
  for (std::size_t i = 0;; ++i) {
    const std::size_t alignment = parameters[i] == sizeof(CUtensorMap) ? sizeof(CUtensorMap) : parameters[i];
    at = (at + alignment - 1) / alignment * alignment;
    if (i == index) {
      return at - start;
    }
    at += parameters[i];
  }
}

// What every call begins with.
CUresult enter() {
  State& now = state();
  ++now.calls;
  if (const int lost = fault("lost_at"); lost > 0 && now.calls >= lost) {
    now.sticky = CUDA_ERROR_UNKNOWN;
  }
  return now.sticky;
}

CUresult given(const char* name) {
  const CUresult before = enter();
  return before != CUDA_SUCCESS ? before : static_cast<CUresult>(fault(name));
}

}  // namespace

#define SWAGE_FAKE_ENTER()                                         \
  if (const CUresult entered = enter(); entered != CUDA_SUCCESS) { \
    return entered;                                                \
  }                                                                \
  static_cast<void>(0)

extern "C" {

CUresult cuInit(unsigned) {
  return given("init");
}
CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult code, const char** name) {
  static const std::map<int, const char*> kNames = {{2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                    {100, "CUDA_ERROR_NO_DEVICE"},
                                                    {101, "CUDA_ERROR_INVALID_DEVICE"},
                                                    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                    {500, "CUDA_ERROR_NOT_FOUND"},
                                                    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
                                                    {999, "CUDA_ERROR_UNKNOWN"}};
  const auto found = kNames.find(code);
  *name = found == kNames.end() ? "CUDA_ERROR" : found->second;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "as the test wants it";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  SWAGE_FAKE_ENTER();
  *count = fault("devices", 1);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  SWAGE_FAKE_ENTER();
  *device = ordinal;
  return ordinal < fault("devices", 1) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  std::memset(uuid->bytes, static_cast<char>(device + 1), sizeof uuid->bytes);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 50 << 20; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 227 << 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE: *value = fault("mode"); break;
    case CU_DEVICE_ATTRIBUTE_MPS_ENABLED: *value = fault("mps"); break;
    default: *value = 0; break;
  }
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{1} << 30;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = nullptr;
  return given("context");
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext) {
  SWAGE_FAKE_ENTER();
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  SWAGE_FAKE_ENTER();
  return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache() {
  SWAGE_FAKE_ENTER();
  return CUDA_SUCCESS;
}
CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  SWAGE_FAKE_ENTER();
  state().limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  if (const CUresult code = given("load"); code != CUDA_SUCCESS) {
    return code;
  }
  auto* kernels = new Module;
  std::istringstream lines(static_cast<const char*>(image));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Kernel kernel;
    words >> kernel.name >> kernel.sharedBytes >> kernel.maxThreads;
    if (const auto entry = line.find(".entry "); entry != std::string::npos) {  // of PTX
      const auto begin = entry + 7;
      kernel.name = line.substr(begin, line.find('(') - begin);
    }
    for (std::size_t bytes = 0; words >> bytes;) {
      kernel.parameters.push_back(bytes);
    }
    (*kernels)[kernel.name] = kernel;
  }
  *module = reinterpret_cast<CUmodule>(kernels);
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  delete reinterpret_cast<Module*>(module);
  return enter();
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  SWAGE_FAKE_ENTER();
  auto& kernels = *reinterpret_cast<Module*>(module);
  const auto found = kernels.find(name);
  if (found == kernels.end()) {
    return CUDA_ERROR_NOT_FOUND;
  }
  *function = reinterpret_cast<CUfunction>(&found->second);
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  SWAGE_FAKE_ENTER();
  const auto& kernel = *reinterpret_cast<const Kernel*>(function);
  *value = attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES       ? kernel.sharedBytes
           : attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? kernel.maxThreads
                                                                  : 0;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  SWAGE_FAKE_ENTER();
  return CUDA_SUCCESS;
}
// As compilers lay arguments out for sm_90: they begin at byte 0x210 of their memory, where maps are aligned to 128.
CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* size) {
  SWAGE_FAKE_ENTER();
  const auto& parameters = reinterpret_cast<const Kernel*>(function)->parameters;
  if (index >= parameters.size()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *offset = placeOf(parameters, index);
  *size = parameters[index];
  return CUDA_SUCCESS;
}
// The first bytes of a map are the address that it was encoded for.
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* elementStrides, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  SWAGE_FAKE_ENTER();
  std::ostringstream text;
  text << "type " << type << " of";
  for (cuuint32_t i = 0; i < rank; ++i) {
    text << ' ' << sizes[i] << '/' << box[i] << '/' << elementStrides[i];
  }
  text << " strides";
  for (cuuint32_t i = 0; i + 1 < rank; ++i) {
    text << ' ' << strides[i];
  }
  text << " swizzle " << swizzle << " promotion " << promotion << " fill " << fill << '\n';
  state().maps += text.str();
  std::memcpy(map, &address, sizeof address);
  return static_cast<CUresult>(fault("map"));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  SWAGE_FAKE_ENTER();
  const auto& parameters = reinterpret_cast<const Kernel*>(function)->parameters;
  for (std::size_t i = 0; i < parameters.size() && (arguments != nullptr || extra != nullptr); ++i) {
    if (parameters[i] == sizeof(CUtensorMap)) {
      // One by one, or packed as extra[1] (CU_LAUNCH_PARAM_BUFFER_POINTER).
      const void* map = arguments != nullptr ? arguments[i] : static_cast<char*>(extra[1]) + placeOf(parameters, i);
      std::memcpy(&state().mapAddress, map, sizeof state().mapAddress);
    }
  }
  State& now = state();
  (now.captured != nullptr ? now.captured->launches : now.launches) +=
      reinterpret_cast<const Kernel*>(function)->name + ' ' + std::to_string(config->gridDimX) + ' ' +
      std::to_string(config->blockDimX) + ' ' + std::to_string(config->sharedMemBytes) + endOfLine(config->hStream);
  note("launch", config->hStream);
  if (const int code = fault("launch"); code != 0) {
    state().sticky = static_cast<CUresult>(code);
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  SWAGE_FAKE_ENTER();
  *stream = reinterpret_cast<CUstream>(new int);
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
  delete reinterpret_cast<int*>(stream);
  return enter();
}
CUresult cuStreamSynchronize(CUstream) {
  SWAGE_FAKE_ENTER();
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream, CUstreamCaptureMode) {
  SWAGE_FAKE_ENTER();
  state().captured = new Graph;
  return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream, CUgraph* graph) {
  SWAGE_FAKE_ENTER();
  Graph* captured = std::exchange(state().captured, nullptr);
  if (const int code = fault("capture"); code != 0) {
    delete captured;
    *graph = nullptr;
    return static_cast<CUresult>(code);
  }
  *graph = reinterpret_cast<CUgraph>(captured);
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* ready, CUgraph graph, unsigned long long) {
  SWAGE_FAKE_ENTER();
  *ready = reinterpret_cast<CUgraphExec>(new Graph(*reinterpret_cast<Graph*>(graph)));
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec ready, CUstream stream) {
  SWAGE_FAKE_ENTER();
  note("graph", stream);
  state().launches += reinterpret_cast<Graph*>(ready)->launches;
  state().issued += reinterpret_cast<Graph*>(ready)->issued;
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<Graph*>(graph);
  return enter();
}
CUresult cuGraphExecDestroy(CUgraphExec ready) {
  delete reinterpret_cast<Graph*>(ready);
  return enter();
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  SWAGE_FAKE_ENTER();
  *event = reinterpret_cast<CUevent>(new int);
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  delete reinterpret_cast<int*>(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent, CUstream stream) {
  SWAGE_FAKE_ENTER();
  note("event", stream);
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent) {
  SWAGE_FAKE_ENTER();
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
  SWAGE_FAKE_ENTER();
  *milliseconds = 1.0F;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  SWAGE_FAKE_ENTER();
  if (++state().allocations == fault("alloc_at")) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *address = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  std::free(reinterpret_cast<void*>(address));
  return enter();
}
CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  SWAGE_FAKE_ENTER();
  *address = std::malloc(bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* address) {
  std::free(address);
  return enter();
}
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  SWAGE_FAKE_ENTER();
  *free = *total = std::size_t{1} << 30;
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, std::size_t bytes, CUstream stream) {
  SWAGE_FAKE_ENTER();
  note("fill", stream);
  if (bytes <= (1U << 20)) {  // larger ones only flush caches
    std::memset(reinterpret_cast<void*>(address), fault("corrupt") != 0 ? 0 : value, bytes);
  }
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr, CUdeviceptr, std::size_t, CUstream) {
  SWAGE_FAKE_ENTER();
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void* target, CUdeviceptr source, std::size_t bytes) {
  SWAGE_FAKE_ENTER();
  std::memcpy(target, reinterpret_cast<const void*>(source), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD(CUdeviceptr target, const void* source, std::size_t bytes) {
  SWAGE_FAKE_ENTER();
  std::memcpy(reinterpret_cast<void*>(target), source, bytes);
  return CUDA_SUCCESS;
}

// For tests: "NAME BLOCKS THREADS SHARED_BYTES" for each launch, "beside" where it was not on the default stream.
const char* swageFakeCudaLaunches() {
  return state().launches.c_str();
}

// For tests: "event", "fill" or "launch" for everything that was issued, "beside" as above.
const char* swageFakeCudaIssued() {
  return state().issued.c_str();
}

// For tests: one line for each tensor map that was encoded, "SIZE/BOX/STEP" for each dimension.
const char* swageFakeCudaMaps() {
  return state().maps.c_str();
}

// For tests: the address in the last tensor map that a kernel was launched with.
std::uintptr_t swageFakeCudaMapAddress() {
  return state().mapAddress;
}

// For tests: what cuCtxSetLimit was last given.
std::size_t swageFakeCudaLimit(int limit) {
  return state().limits[limit];
}

}  // extern "C"
