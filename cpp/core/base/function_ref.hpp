// A reference to a function object. A function with a FunctionRef parameter is compiled once,
// not once for each type of function object.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace pretok {

template <typename Signature> class FunctionRef;

// The function object must outlive the reference.
template <typename Result, typename... Arguments> class FunctionRef<Result(Arguments...)> {
public:
  template <typename Function,
            typename = std::enable_if_t<!std::is_same_v<std::decay_t<Function>, FunctionRef>>>
  FunctionRef(Function &&function)
      : object_(const_cast<void *>(static_cast<const void *>(std::addressof(function)))),
        call_([](void *object, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<Function> *>(object))(
              std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(object_, std::forward<Arguments>(arguments)...);
  }

private:
  void *object_;
  Result (*call_)(void *, Arguments...);
};

} // namespace pretok
