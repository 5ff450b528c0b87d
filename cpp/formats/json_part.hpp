// A value of a JSON file with its path for error messages. bpe/formats/json_value.py does the
// same in Python.
#pragma once

#include "core/json/json_document.hpp"
#include "formats/load_error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pretok {

// A JSON file, and the first error in it.
struct JsonFile {
  const JsonDocument &document;
  LoadError error;
};

// A value of a file, or the place of a value that is missing. A function that fails sets the
// error of the file, unless it has one already, and returns a default value. So a reader may
// call several functions before it looks at the error.
class JsonPart {
public:
  class Children;

  explicit JsonPart(JsonFile &file) : file_(&file) {} // the whole file

  bool exists() const { return place_ != MISSING; }
  bool is_present() const; // whether there is a value other than null
  bool is(JsonKind kind) const { return is_present() && value().kind == kind; }
  bool is_flag() const { return is(JsonKind::TRUE_WORD) || is(JsonKind::FALSE_WORD); }
  bool is_whole_number() const;
  // Returns whether no function has failed for any part of the file.
  bool is_fine() const { return file_->error.kind == LoadError::NONE; }
  // Returns the place of an existing value in the document.
  std::size_t place() const { return place_; }
  std::string path() const; // such as "model.merges[2]"; "" for the whole file
  // Returns the name of a member of an object.
  std::string_view name() const { return name_; }
  // Returns the JSON text of a list or object, or "" for any other value.
  std::string_view json() const;

  // Returns a member of an object. If there is none, its is_present() is false. Fails if this
  // value is not an object.
  JsonPart operator[](std::string_view name) const;
  // Return the values of a list, or of the members of an object. Fail for any other value.
  Children items() const;
  Children members() const;

  // Return the value as a text, flag or number. Fail if it is absent or has another type.
  std::string_view text() const;
  bool flag() const;
  std::uint32_t number(std::uint32_t max) const; // from 0 to `max`
  std::uint32_t id() const;
  double fraction() const; // from 0 to 1
  // Do the same, but return the default value if the value is absent.
  std::string_view text_or(std::string_view absent) const;
  bool flag_or(bool absent) const;
  // Returns a text of at most MAX_SHORT_TEXT characters.
  std::string short_text(bool may_be_empty) const;
  static constexpr std::size_t MAX_SHORT_TEXT = 256;
  // Sets `id`, and returns whether the value is an id. Does not fail.
  bool get_id(std::uint32_t &id) const;

  // Returns the text of the member "type".
  std::string_view kind() const { return (*this)["type"].text(); }
  // Fails if the object has a member that is not null and whose name is not in `names`. A part
  // with a type may also have members of ByteLevel, which have no effect there.
  void only(const std::vector<std::string_view> &names) const;
  // Returns the parts of a pre_tokenizer, normalizer or post_processor. If its "type" is
  // "Sequence", the parts are the elements of the list in the member `name`. An element that is
  // a Sequence itself is replaced by its parts. Otherwise this value is the only part.
  std::vector<JsonPart> parts(std::string_view name) const;

  // Fail with an error that begins with the path and the value.
  void fail_malformed(const std::string &expected) const;
  void fail_unsupported(const std::string &advice) const;
  // Fails with an error of this message.
  void fail(LoadError error) const;

private:
  static constexpr std::size_t MISSING = ~std::size_t{0};

  JsonPart(JsonFile *file, std::size_t place, std::size_t parent, std::string_view name)
      : file_(file), place_(place), parent_(parent), name_(name) {}

  const JsonValue &value() const { return file_->document[place_]; }
  std::string description() const;
  Children children(JsonKind kind, const char *expected) const;

  JsonFile *file_;
  std::size_t place_ = 0; // in the document, or MISSING
  std::size_t parent_ = 0;
  std::string_view name_;
};

// The values in a list or object, to iterate over.
class JsonPart::Children {
public:
  class Iterator {
  public:
    Iterator(const Children &children, std::size_t at) : children_(children), at_(at) {}
    bool operator!=(const Iterator &other) const { return at_ != other.at_; }
    Iterator &operator++() {
      at_ = children_.file_->document.after(value_place());
      return *this;
    }
    JsonPart operator*() const {
      const JsonDocument &document = children_.file_->document;
      return {children_.file_, value_place(), children_.parent_,
              children_.is_object_ ? document[at_].text() : std::string_view()};
    }

  private:
    std::size_t value_place() const { return at_ + (children_.is_object_ ? 1 : 0); }

    const Children &children_;
    std::size_t at_; // the place of the value, or of its name
  };

  Iterator begin() const { return {*this, begin_}; }
  Iterator end() const { return {*this, end_}; }
  std::size_t size() const; // takes time for each value
  std::vector<JsonPart> listed() const;

private:
  friend class JsonPart;
  Children(JsonFile *file, std::size_t parent, std::size_t begin, std::size_t end,
           bool is_object)
      : file_(file), parent_(parent), begin_(begin), end_(end), is_object_(is_object) {}

  JsonFile *file_;
  std::size_t parent_;
  std::size_t begin_;
  std::size_t end_;
  bool is_object_;
};

} // namespace pretok
