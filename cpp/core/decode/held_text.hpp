// Text that the decoder of a stream holds back.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace pretok {

// Copies share memory, so that a copy takes constant time. A copy that grows leaves the text of
// the original as it is; then the original may grow again only if the copy is not used any
// more.
class HeldText {
public:
  void append(std::string_view more) {
    if (text_ == nullptr)
      text_ = std::make_shared<std::string>();
    text_->resize(size_);
    text_->append(more);
    size_ = text_->size();
  }
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
