// SPDX-License-Identifier: Apache-2.0
#include "core/retrieval/words.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace swage::retrieval {
namespace {

constexpr std::size_t kMostOfWord = 40;

bool isUpper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isLetter(char c) {
  return isUpper(c) || (c >= 'a' && c <= 'z');
}
char lower(char c) {
  return isUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string singular(std::string word) {
  constexpr std::size_t kShort = 4;
  const bool isPlural = !word.ends_with("ss") && !word.ends_with("is") && !word.ends_with("ias") &&
                        (!word.ends_with("us") || word.ends_with("pus"));  // but: GPUs
  if (word.size() < kShort || !isPlural) {
    return word;
  }
  if (word.ends_with("ies")) {
    return word.substr(0, word.size() - 3) + "y";
  }
  if (word.ends_with("sses") || word.ends_with("xes") || word.ends_with("ches")) {
    return word.substr(0, word.size() - 2);
  }
  return word.ends_with('s') ? word.substr(0, word.size() - 1) : word;
}

// What stands for an idea: words that may follow one another with spaces. Singular, lower case, as wordsOf() gives
// them.
struct Idea {
  std::string_view name;
  std::vector<std::string_view> phrases;
};

// Ordered by subject: operators, shapes, devices, methods, what is slow. A phrase may stand for several ideas.
const std::vector<Idea>& ideas() {
  static const std::vector<Idea> kIdeas{
      {"product",
       {"product", "gemm", "matmul", "mm", "addmm", "bmm", "linear", "matrix multiplication", "matrix multiply",
        "matrix product", "dense layer", "fully connected", "einsum", "dot product", "contract", "projection"}},
      {"softmax", {"softmax", "log softmax", "logsumexp", "attention score"}},
      {"attention", {"attention", "flash attention", "sdpa", "scaled dot product", "flex attention", "qkv"}},
      {"norm",
       {"norm", "normalization", "normalisation", "layernorm", "layer norm", "rmsnorm", "rms norm", "batchnorm",
        "batch norm", "groupnorm", "group norm", "instance norm", "mean and variance", "welford", "variance"}},
      {"reduction",
       {"reduction", "reduce", "sum", "mean", "max", "amax", "argmax", "fold", "total", "average", "norm"}},
      {"row",
       {"row", "innermost axis", "last dimension", "last dim", "last axis", "row wise", "rowwise", "softmax",
        "layernorm", "layer norm", "rmsnorm", "rms norm", "log softmax", "per token", "each token"}},
      {"column",
       {"column", "outer axe", "outer axis", "first dimension", "dim 0", "axis 0", "batch dimension", "column wise",
        "bias gradient", "batchnorm", "batch norm", "per channel", "over batch"}},
      {"pointwise",
       {"pointwise",    "elementwise", "element wise", "activation", "relu", "gelu",       "silu",      "swish",
        "sigmoid",      "tanh",        "add",          "mul",        "map",  "unary",      "binary op", "bias add",
        "residual add", "swiglu",      "clamp",        "hardswish",  "mish", "leaky relu", "elu",       "dropout"}},
      {"gather", {"gather", "index",       "flip",          "flipped", "pad",    "padded",      "padding",
                  "concat", "concatenate", "concatenation", "cat",     "joined", "embedding",   "lookup",
                  "roll",   "transpose",   "permute",       "slice",   "stack",  "reshape copy"}},
      {"window",
       {"window", "pool", "pooling", "maxpool", "avgpool", "conv", "convolution", "conv2d", "conv1d", "depthwise",
        "stencil", "unfold", "sliding window"}},
      {"scan",
       {"scan", "cumsum", "cumprod", "prefix sum", "cumulative", "running sum", "running product", "recurrence"}},
      {"loss", {"loss", "cross entropy", "nll", "mse", "kl divergence", "hinge"}},
      {"long",
       {"long", "large row", "huge row", "wide row", "long sequence", "large vocabulary", "vocabulary", "does not fit",
        "not fit", "very large", "big row", "million"}},
      {"few", {"few", "few row", "handful", "small batch", "batch size 1", "single row", "one row", "low parallelism"}},
      {"short", {"short", "small row", "narrow", "tiny row", "small", "short row"}},
      {"fused", {"fused", "fuse", "fusion", "epilogue", "what follow", "prologue", "one pass", "single pass"}},
      {"tensorcore",
       {"tensor core", "mma", "wgmma", "wmma", "hmma", "mma sync", "tensorcore", "ldmatrix", "warp group", "warpgroup",
        "tcgen05", "umma"}},
      {"asynchronous",
       {"asynchronous", "async", "cp async", "tma", "copy engine", "pipeline", "pipelined", "prefetch", "multistage",
        "double buffer", "steps ahead", "step ahead", "bulk copy", "software pipelining"}},
      {"sharedmemory", {"shared memory", "smem", "shared", "scratchpad"}},
      {"registers", {"register", "in register", "register resident"}},
      {"cluster", {"cluster", "dsmem", "distributed shared memory", "thread block cluster", "gang", "multicast"}},
      {"cooperative", {"cooperative", "cooperative launch", "grid sync", "persistent", "gang", "grid barrier"}},
      {"split",
       {"split", "split k", "splitk", "slice", "second launch", "two launch", "two kernel", "two pass", "stream k",
        "partial"}},
      {"warp", {"warp", "shuffle", "warp shuffle", "warp reduce"}},
      {"vectorised",
       {"vectorised", "vectorized", "vector load", "128 bit", "float4", "simd", "avx", "avx2", "avx512",
        "vector register", "vector", "wide load"}},
      {"cpu", {"cpu", "x86", "openmp", "processor", "xeon", "epyc", "avx2", "avx512", "simd"}},
      {"gpu", {"gpu", "cuda", "nvidia", "graphics card"}},
      {"hopper", {"hopper", "sm90", "sm90a", "h100", "h200", "h800", "gh200", "compute capability 9", "wgmma"}},
      {"ampere", {"ampere", "sm80", "a100", "a800", "sm86", "a10", "a40", "3090"}},
      {"ada", {"ada", "ada lovelace", "sm89", "l4", "l40", "l40 s", "4090"}},
      {"blackwell", {"blackwell", "sm100", "sm120", "b200", "b100", "gb200", "5090", "tcgen05"}},
      {"volta", {"volta", "sm70", "v100"}},
      {"turing", {"turing", "sm75", "t4", "2080"}},
      {"bandwidth",
       {"bandwidth", "memory bound", "hbm", "hbm3", "hbm2e", "gddr6", "gb", "tb", "memory speed", "dram",
        "memory throughput"}},
      {"flops", {"flop", "tflop", "teraflop", "peak", "arithmetic throughput", "fp32 rate", "fp16 rate", "compute"}},
      {"multiprocessors",
       {"multiprocessor", "sm count", "how many sm", "number of sm", "streaming multiprocessor", "core count"}},
      {"cache", {"cache", "l2", "l2 cache", "l1"}},
      {"occupancy", {"occupancy", "resident warp", "latency bound", "latency"}},
      {"bankconflict", {"bank conflict", "swizzle", "swizzled"}},
      {"random", {"random", "dropout", "philox", "rand"}},
      {"sort", {"sort", "topk", "top k", "argsort", "bitonic"}},
      {"half", {"half", "fp16", "bf16", "bfloat16", "float16"}},
      {"tf32", {"tf32", "bf16x3", "3xtf32", "shorter number", "two halve", "emulated float"}},
      {"fp8", {"fp8", "e4m3", "e5m2", "float8", "scaled mm"}},
  };
  return kIdeas;
}

std::string phraseAt(const std::vector<std::string>& words, std::size_t at, std::size_t count) {
  std::string phrase;
  for (std::size_t i = at; i < at + count; ++i) {
    phrase += i == at ? words[i] : ' ' + words[i];
  }
  return phrase;
}

// By phrase: the ideas that it stands for.
const std::multimap<std::string, const Idea*>& ideasByPhrase() {
  static const std::multimap<std::string, const Idea*> kByPhrase = [] {
    std::multimap<std::string, const Idea*> map;
    for (const Idea& idea : ideas()) {
      for (const std::string_view phrase : idea.phrases) {
        map.emplace(phrase, &idea);
      }
    }
    return map;
  }();
  return kByPhrase;
}

std::vector<const Idea*> ideasIn(const std::vector<std::string>& words) {
  constexpr std::size_t kMostOfPhrase = 4;  // of a phrase
  std::vector<const Idea*> found;
  for (std::size_t at = 0; at < words.size(); ++at) {
    for (std::size_t count = 1; count <= std::min(kMostOfPhrase, words.size() - at); ++count) {
      const auto [begin, end] = ideasByPhrase().equal_range(phraseAt(words, at, count));
      for (auto it = begin; it != end; ++it) {
        if (std::find(found.begin(), found.end(), it->second) == found.end()) {
          found.push_back(it->second);
        }
      }
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end = [&] {
    if (!word.empty() && word.size() <= kMostOfWord) {
      // sm_90, sm 90
      if (words.size() > 0 && words.back() == "sm" && isDigit(word.front())) {
        words.back() += word;
      } else {
        words.push_back(singular(std::move(word)));
      }
    }
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool isCut = i > 0 && isUpper(c) && isLetter(text[i - 1]) && !isUpper(text[i - 1]);
    if (isCut) {
      end();
    }
    if (isLetter(c) || isDigit(c)) {
      word += lower(c);
    } else {
      end();
    }
  }
  end();
  return words;
}

std::vector<std::string> withIdeas(std::vector<std::string> words) {
  std::vector<std::string> names;
  for (const Idea* idea : ideasIn(words)) {
    names.push_back(fmt::format("idea.{}", idea->name));
  }
  words.insert(words.end(), names.begin(), names.end());
  return words;
}

std::vector<std::string> withSynonyms(const std::vector<std::string>& words) {
  std::vector<std::string> all = words;
  for (const Idea* idea : ideasIn(words)) {
    for (const std::string_view phrase : idea->phrases) {
      if (phrase.find(' ') == std::string_view::npos) {
        all.emplace_back(phrase);
      }
    }
  }
  std::set<std::string> seen;
  std::erase_if(all, [&seen](const std::string& word) { return !seen.insert(word).second; });
  return all;
}

bool isFiller(std::string_view word) {
  static const std::set<std::string_view> kFillers{
      "a",     "an",      "and",  "are",  "as",      "at",    "be",  "best", "by",     "can",   "do",
      "does",  "for",     "from", "get",  "has",     "how",   "i",   "if",   "in",     "into",  "is",
      "it",    "kernel",  "many", "me",   "much",    "my",    "of",  "on",   "one",    "or",    "over",
      "so",    "that",    "the",  "then", "this",    "to",    "use", "way",  "what",   "when",  "where",
      "which", "who",     "why",  "with", "without", "write", "you", "fast", "faster", "using", "should",
      "there", "fastest", "its",  "than", "was",     "will",  "not", "no",   "under"};
  return kFillers.contains(word);
}

}  // namespace swage::retrieval
