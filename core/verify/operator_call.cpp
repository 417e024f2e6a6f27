// SPDX-License-Identifier: Apache-2.0
#include "core/verify/operator_call.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/verify/tensors.h"

namespace swage::verify {
namespace {

using domain::Argument;
using domain::ValueId;

Error misfit(const std::string& what) {
  return Error(ErrorKind::InvalidInput, what);
}

// The type below Optional[...].
const c10::Type& withoutOptional(const c10::Type& type) {
  const c10::Type* inner = &type;
  while (const auto* optional = inner->castRaw<c10::OptionalType>()) {
    inner = optional->getElementType().get();
  }
  return *inner;
}

Result<c10::MemoryFormat> parseMemoryFormat(std::string_view text) {
  if (text == "contiguous_format") {
    return c10::MemoryFormat::Contiguous;
  }
  if (text == "preserve_format") {
    return c10::MemoryFormat::Preserve;
  }
  if (text == "channels_last") {
    return c10::MemoryFormat::ChannelsLast;
  }
  if (text == "channels_last_3d") {
    return c10::MemoryFormat::ChannelsLast3d;
  }
  return misfit(fmt::format("the memory format '{}' is unknown", text));
}

// A number where the schema wants a tensor (`x * 2.0` exports as mul.Tensor): Python passes a tensor of no dimensions
// that is marked as a wrapped number, so that it does not widen the type of the result.
c10::IValue wrappedNumber(const at::Scalar& value) {
  at::Tensor tensor = at::scalar_to_tensor(value);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return c10::IValue(std::move(tensor));
}

// A number, a word or a placeholder, as the schema's type wants it.
struct ScalarConverter {
  const c10::Type& type;
  const CallMode& mode;

  Result<c10::IValue> operator()(std::monostate) const { return c10::IValue(); }
  [[nodiscard]] bool wantsTensor() const { return type.kind() == c10::TypeKind::TensorType; }
  Result<c10::IValue> operator()(bool value) const { return wantsTensor() ? wrappedNumber(value) : c10::IValue(value); }
  Result<c10::IValue> operator()(std::int64_t value) const {
    if (wantsTensor()) {
      return wrappedNumber(value);
    }
    return type.kind() == c10::TypeKind::FloatType ? c10::IValue(static_cast<double>(value)) : c10::IValue(value);
  }
  Result<c10::IValue> operator()(double value) const {
    return wantsTensor() ? wrappedNumber(value) : c10::IValue(value);
  }
  Result<c10::IValue> operator()(const std::string& value) const { return c10::IValue(value); }
  Result<c10::IValue> operator()(domain::ScalarType value) const {
    const bool widen = mode.widenTo && domain::isFloating(value);
    return c10::IValue(static_cast<std::int64_t>(widen ? *mode.widenTo : toTorch(value)));
  }
  Result<c10::IValue> operator()(domain::DeviceArgument) const { return c10::IValue(mode.device); }
  Result<c10::IValue> operator()(const domain::LayoutArgument& value) const {
    if (value.layout != "strided") {
      return Error(ErrorKind::Unsupported, fmt::format("the layout '{}' is not supported", value.layout));
    }
    return c10::IValue(static_cast<std::int64_t>(c10::kStrided));
  }
  Result<c10::IValue> operator()(const domain::MemoryFormatArgument& value) const {
    SWAGE_TRY_ASSIGN(const c10::MemoryFormat format, parseMemoryFormat(value.format));
    return c10::IValue(static_cast<std::int64_t>(format));
  }
  Result<c10::IValue> operator()(ValueId) const { return misfit("a tensor stands where a number is wanted"); }
  Result<c10::IValue> operator()(const domain::ArgumentList&) const {
    return misfit("a list stands where one value is wanted");
  }
};

template <class T, class Get>
Result<c10::IValue> typedList(const domain::ArgumentList& items, Get get) {
  c10::List<T> list;
  list.reserve(items.size());
  for (const Argument& item : items) {
    std::optional<T> value = get(item);
    if (!value) {
      return misfit("a list has an element of the wrong type");
    }
    list.push_back(std::move(*value));
  }
  return c10::IValue(std::move(list));
}

std::optional<std::int64_t> integerOf(const Argument& item) {
  const auto* value = std::get_if<std::int64_t>(&item.value);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<double> doubleOf(const Argument& item) {
  if (const auto* value = std::get_if<double>(&item.value)) {
    return *value;
  }
  const auto integer = integerOf(item);
  return integer ? std::optional(static_cast<double>(*integer)) : std::nullopt;
}

std::optional<bool> boolOf(const Argument& item) {
  const auto* value = std::get_if<bool>(&item.value);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<at::Scalar> numberOf(const Argument& item) {
  if (const auto* flag = std::get_if<bool>(&item.value)) {
    return at::Scalar(*flag);
  }
  if (const auto integer = integerOf(item)) {
    return at::Scalar(*integer);
  }
  const auto real = doubleOf(item);
  return real ? std::optional(at::Scalar(*real)) : std::nullopt;
}

Result<c10::IValue> convertList(const domain::ArgumentList& items, const c10::Type& element) {
  switch (element.kind()) {
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: return typedList<std::int64_t>(items, integerOf);
    case c10::TypeKind::FloatType: return typedList<double>(items, doubleOf);
    case c10::TypeKind::BoolType: return typedList<bool>(items, boolOf);
    case c10::TypeKind::NumberType: return typedList<at::Scalar>(items, numberOf);
    default: return Error(ErrorKind::Unsupported, fmt::format("lists of {} are not supported", element.str()));
  }
}

std::string readable(const c10::Argument& argument) {
  return fmt::format("argument '{}' of type {}", argument.name(), argument.type()->str());
}

}  // namespace

std::optional<c10::OperatorHandle> findOperator(const std::string& op) {
  const auto first = op.find('.');
  const auto last = op.rfind('.');
  if (first == std::string::npos || last == first) {
    return std::nullopt;
  }
  std::string overload = op.substr(last + 1);
  if (overload == "default") {
    overload.clear();
  }
  const std::string name = op.substr(0, first) + "::" + op.substr(first + 1, last - first - 1);
  return c10::Dispatcher::singleton().findSchema({name, overload});
}

// Fills the template and the patches of one call.
struct OperatorCall::Binder {
  const domain::Node& node;
  const CallMode& mode;
  OperatorCall& call;

  Result<> bindAll() {
    const auto& parameters = call.m_operator.schema().arguments();
    std::size_t keywordsUsed = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Argument* given = i < node.args.size() ? &node.args[i] : keyword(parameters[i].name());
      keywordsUsed += i >= node.args.size() && given != nullptr ? 1U : 0U;
      auto bound = given != nullptr ? bindOne(i, parameters[i], *given) : bindDefault(parameters[i]);
      if (!bound) {
        return std::move(bound).error().withContext(readable(parameters[i]));
      }
    }
    if (node.args.size() > parameters.size() || keywordsUsed != node.kwargs.size()) {
      return misfit("it has arguments that the operator does not take");
    }
    return {};
  }

  [[nodiscard]] const Argument* keyword(const std::string& name) const {
    const auto found =
        std::find_if(node.kwargs.begin(), node.kwargs.end(), [&](const auto& entry) { return entry.first == name; });
    return found == node.kwargs.end() ? nullptr : &found->second;
  }

  Result<> bindDefault(const c10::Argument& parameter) {
    if (!parameter.default_value()) {
      return misfit("it is missing");
    }
    call.m_template.push_back(*parameter.default_value());
    return {};
  }

  Result<> bindOne(std::size_t index, const c10::Argument& parameter, const Argument& given) {
    const c10::Type& type = withoutOptional(*parameter.type());
    if (const auto* id = std::get_if<ValueId>(&given.value);
        id != nullptr && type.kind() == c10::TypeKind::TensorType) {
      return patch(index, PatchKind::Tensor, {*id});
    }
    if (type.kind() == c10::TypeKind::ListType && !std::holds_alternative<std::monostate>(given.value)) {
      return bindList(index, parameter, type, given);
    }
    SWAGE_TRY_ASSIGN(c10::IValue value, std::visit(ScalarConverter{type, mode}, given.value));
    call.m_template.push_back(std::move(value));
    return {};
  }

  Result<> bindList(std::size_t index, const c10::Argument& parameter, const c10::Type& type, const Argument& given) {
    const c10::Type& element = *type.castRaw<c10::ListType>()->getElementType();
    const auto* items = std::get_if<domain::ArgumentList>(&given.value);
    if (withoutOptional(element).kind() == c10::TypeKind::TensorType) {
      if (items == nullptr) {
        return misfit("it is no list of tensors");
      }
      return bindTensorList(index, element.kind() == c10::TypeKind::OptionalType, *items);
    }
    // "int[2] stride" takes one number for both.
    const domain::ArgumentList repeated =
        items != nullptr
            ? *items
            : domain::ArgumentList(static_cast<std::size_t>(std::max(parameter.N().value_or(1), 1)), given);
    SWAGE_TRY_ASSIGN(c10::IValue value, convertList(repeated, withoutOptional(element)));
    call.m_template.push_back(std::move(value));
    return {};
  }

  Result<> bindTensorList(std::size_t index, bool optional, const domain::ArgumentList& items) {
    std::vector<ValueId> ids;
    for (const Argument& item : items) {
      const auto* id = std::get_if<ValueId>(&item.value);
      if (id == nullptr && !(optional && std::holds_alternative<std::monostate>(item.value))) {
        return misfit("it has an element that is no tensor");
      }
      ids.push_back(id != nullptr ? *id : ValueId());
    }
    return patch(index, optional ? PatchKind::OptionalTensorList : PatchKind::TensorList, std::move(ids));
  }

  Result<> patch(std::size_t index, PatchKind kind, std::vector<ValueId> ids) {
    call.m_template.emplace_back();
    call.m_patches.push_back({index, kind, std::move(ids)});
    return {};
  }
};

Result<OperatorCall> OperatorCall::bind(const domain::Node& node, const CallMode& mode) {
  const auto handle = findOperator(node.op);
  if (!handle) {
    return Error(ErrorKind::Unsupported, fmt::format("this PyTorch has no operator '{}'", node.op),
                 "Import the task with the version of PyTorch that the worker uses.");
  }
  OperatorCall call(node.op, *handle);
  call.m_outputs = node.outputs;
  auto bound = Binder{node, mode, call}.bindAll();
  if (!bound) {
    return std::move(bound).error().withContext(node.where.empty() ? node.op
                                                                   : fmt::format("{} ({})", node.op, node.where));
  }
  return call;
}

torch::jit::Stack OperatorCall::arguments(const Slots& slots) const {
  const auto at = [&slots](ValueId id) -> const at::Tensor& { return slots[static_cast<std::size_t>(id.value())]; };
  torch::jit::Stack stack = m_template;
  for (const Patch& patch : m_patches) {
    c10::IValue& target = stack[patch.argument];
    switch (patch.kind) {
      case PatchKind::Tensor: target = at(patch.ids.front()); break;
      case PatchKind::TensorList: {
        c10::List<at::Tensor> list;
        std::for_each(patch.ids.begin(), patch.ids.end(), [&](ValueId id) { list.push_back(at(id)); });
        target = std::move(list);
        break;
      }
      case PatchKind::OptionalTensorList: {
        c10::List<std::optional<at::Tensor>> list;
        for (const ValueId id : patch.ids) {
          list.push_back(id.isValid() ? std::optional(at(id)) : std::nullopt);
        }
        target = std::move(list);
        break;
      }
    }
  }
  return stack;
}

void OperatorCall::store(torch::jit::Stack& results, Slots& slots) const {
  std::size_t next = 0;
  const auto put = [&](at::Tensor tensor) {
    TORCH_CHECK(next < m_outputs.size(), m_name, " returned more than the ", m_outputs.size(), " results of its node");
    const ValueId id = m_outputs[next++];
    if (id.isValid()) {
      slots[static_cast<std::size_t>(id.value())] = std::move(tensor);
    }
  };
  for (c10::IValue& result : results) {
    if (result.isTensor()) {
      put(std::move(result).toTensor());
    } else if (result.isTensorList()) {
      for (at::Tensor& tensor : result.toTensorVector()) {
        put(std::move(tensor));
      }
    } else {
      put({});
    }
  }
  TORCH_CHECK(next == m_outputs.size(), m_name, " returned ", next, " results, its node has ", m_outputs.size());
}

void OperatorCall::run(Slots& slots) const {
  torch::jit::Stack stack = arguments(slots);
  m_operator.callBoxed(stack);
  store(stack, slots);
}

}  // namespace swage::verify
