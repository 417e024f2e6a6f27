// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/cuda_lexer.h"

#include <utility>
#include <vector>

namespace swage::ui {
namespace {

constexpr int kSecondarySet = 2;  // Scintilla counts keyword sets from 1; QsciLexerCPP colours this as KeywordSet2

constexpr const char* kCudaWords =
    "__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ __launch_bounds__ "
    "__cluster_dims__ __grid_constant__ __forceinline__ __noinline__ __align__ __restrict "
    "threadIdx blockIdx blockDim gridDim warpSize dim3 "
    "char2 char4 uchar2 uchar4 short2 short4 ushort2 ushort4 int2 int3 int4 uint2 uint3 uint4 "
    "longlong2 ulonglong2 float2 float3 float4 double2 double4 half half2 __half __half2 __nv_bfloat16 __nv_bfloat162 "
    "__syncthreads __syncwarp __threadfence __threadfence_block __threadfence_system "
    "__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ballot_sync __any_sync __all_sync "
    "__reduce_add_sync __reduce_max_sync __reduce_min_sync __activemask __ldg __ldcs __stcs __ldcg __stcg "
    "atomicAdd atomicMax atomicMin atomicCAS atomicExch __expf __logf __fdividef __frcp_rn __fsqrt_rn rsqrtf "
    "nvcuda wmma mma cooperative_groups asm volatile";

}  // namespace

CudaLexer::CudaLexer(QObject* parent) : QsciLexerCPP(parent, true) {
  setFoldCompact(false);
}

const char* CudaLexer::keywords(int set) const {
  return set == kSecondarySet ? kCudaWords : QsciLexerCPP::keywords(set);
}

void CudaLexer::setTheme(const Theme& theme, const QFont& font) {
  setDefaultFont(font);
  setDefaultPaper(theme.base);
  setDefaultColor(theme.text);
  setFont(font, -1);
  setPaper(theme.base, -1);
  setColor(theme.text, -1);
  const std::pair<QColor, std::vector<int>> styles[] = {
      {theme.keyword, {Keyword}},
      {theme.deviceKeyword, {KeywordSet2}},
      {theme.comment, {Comment, CommentLine, CommentDoc, CommentLineDoc, CommentDocKeyword, CommentDocKeywordError}},
      {theme.string, {DoubleQuotedString, SingleQuotedString, RawString, UnclosedString}},
      {theme.number, {Number, UserLiteral}},
      {theme.preprocessor, {PreProcessor, PreProcessorComment}},
  };
  for (const auto& [color, ids] : styles) {
    for (const int id : ids) {
      setColor(color, id);
    }
  }
}

}  // namespace swage::ui
