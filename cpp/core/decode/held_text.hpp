// Text that the decoder of a stream holds back.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace pretok {

// Copies share memory, so that a copy takes constant time. The first copy that grows does so in
// place, after the text that all copies have; any other copy then takes memory of its own. One
// thread at a time may use copies that share memory.
class HeldText {
public:
  void append(std::string_view more) {
    if (text_ == nullptr || size_ != text_->size())
      own_memory();
    text_->append(more);
    size_ = text_->size();
  }
  // Shares no memory with copies any more.
  void own_memory() { text_ = std::make_shared<std::string>(view()); }
  void clear() {
    text_.reset();
    size_ = 0;
  }
  std::string_view view() const {
    return text_ == nullptr ? std::string_view() : std::string_view(*text_).substr(0, size_);
  }

private:
  std::shared_ptr<std::string> text_;
  std::size_t size_ = 0;
};

} // namespace pretok
