#include "formats/json_template.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

constexpr std::size_t MAX_ENTRIES =
    MAX_TEMPLATE_IDS + 1; // with the one that stands for the text

// Implements read_template. A function that fails sets `error_` and returns false.
class TemplateReader {
public:
  TemplateReader(const JsonPart &file, TokenizerSpec &spec, LoadError &error)
      : file_(file), spec_(spec), error_(error) {}

  bool read() {
    JsonPart post_processor;
    std::vector<JsonPart> parts;
    if (!file_.get("post_processor", post_processor, error_) ||
        !post_processor.parts("processors", parts, error_))
      return false;
    for (const JsonPart &part : parts) {
      std::string_view kind;
      std::vector<std::uint32_t> before;
      std::vector<std::uint32_t> after;
      if (!part.is_present)
        continue;
      if (!part.kind(kind, error_))
        return false;
      count_ = spec_.before.size() + spec_.after.size();
      if (kind == "TemplateProcessing") {
        if (!read_pieces(part, before, after))
          return false;
      } else if (kind == "RobertaProcessing" || kind == "BertProcessing") {
        if (!part.only({"type", "sep", "cls", "trim_offsets", "add_prefix_space"}, error_) ||
            !add_to_count(part, 2) || !read_end(part, "cls", before) ||
            !read_end(part, "sep", after))
          return false;
      } else if (kind != "ByteLevel") { // ByteLevel changes only offsets
        return fail_unsupported(part, "expected TemplateProcessing, RobertaProcessing, "
                                      "BertProcessing or ByteLevel");
      }
      spec_.before.insert(spec_.before.begin(), before.begin(), before.end());
      spec_.after.insert(spec_.after.end(), after.begin(), after.end());
    }
    return true;
  }

private:
  // Adds `more` to the number of ids of the template. Fails if they are too many. `entry` is
  // the part of the file that adds them.
  bool add_to_count(const JsonPart &entry, std::size_t more) {
    count_ += more;
    if (count_ <= MAX_TEMPLATE_IDS)
      return true;
    error_ = entry.malformed("a template of at most " + std::to_string(MAX_TEMPLATE_IDS) +
                             " ids, got " + std::to_string(count_) +
                             " up to this entry; remove entries, or ids of special_tokens");
    return false;
  }

  bool fail_unsupported(const JsonPart &part, const std::string &advice) {
    error_ = part.unsupported(advice);
    return false;
  }

  // Reads a TemplateProcessing. Its pieces are special tokens and the Sequence "A", which
  // stands for the text. Appends the ids before and after "A".
  bool read_pieces(const JsonPart &part, std::vector<std::uint32_t> &before,
                   std::vector<std::uint32_t> &after) {
    JsonPart single;
    JsonPart special;
    simdjson::dom::array entries;
    if (!part.only({"type", "single", "pair", "special_tokens"}, error_) ||
        !part.get("single", single, error_) || !single.list(entries, error_))
      return false;
    if (entries.size() > MAX_ENTRIES) {
      error_ = single.malformed("at most " + std::to_string(MAX_ENTRIES) + " entries, got " +
                                std::to_string(entries.size()) + "; remove some of them");
      return false;
    }
    std::vector<JsonPart> pieces;
    if (!single.items(pieces, error_) || !part.get("special_tokens", special, error_))
      return false;
    bool is_after_text = false;
    for (const JsonPart &piece : pieces) {
      JsonPart token;
      JsonPart sequence;
      JsonPart id;
      std::string_view name;
      if (!piece.only({"SpecialToken", "Sequence"}, error_) ||
          !piece.get("SpecialToken", token, error_) || !piece.get("Sequence", sequence, error_))
        return false;
      if (!(token.is_present ? token : sequence).get("id", id, error_) ||
          !id.text(name, error_))
        return false;
      if (token.is_present) {
        if (!read_special(piece, special, name, is_after_text ? after : before))
          return false;
      } else if (name != "A" || std::exchange(is_after_text, true)) {
        return fail_unsupported(piece, "expected the Sequence \"A\" exactly once");
      }
    }
    return is_after_text ||
           fail_unsupported(single, "expected the Sequence \"A\" exactly once");
  }

  // Appends the ids of the special token `name`, which `entry` of the template names. `special`
  // is the member special_tokens.
  bool read_special(const JsonPart &entry, const JsonPart &special, std::string_view name,
                    std::vector<std::uint32_t> &to) {
    JsonPart token;
    JsonPart listed;
    std::vector<JsonPart> ids;
    simdjson::dom::array values;
    if (!special.get(name, token, error_) || !token.get("ids", listed, error_) ||
        !listed.list(values, error_) || !add_to_count(entry, values.size()) ||
        !listed.items(ids, error_))
      return false;
    return std::all_of(ids.begin(), ids.end(), [&](const JsonPart &each) {
      to.push_back(0);
      return each.id(to.back(), error_);
    });
  }

  // Appends the id of a special token. The member `name` is a list with the text and the id of
  // the token.
  bool read_end(const JsonPart &part, const char *name, std::vector<std::uint32_t> &to) {
    JsonPart pair;
    std::vector<JsonPart> items;
    std::string_view text;
    if (!part.get(name, pair, error_) || !pair.items(items, error_))
      return false;
    if (items.size() != 2) {
      error_ = pair.malformed("a list of a text and its id");
      return false;
    }
    to.push_back(0);
    return items[0].text(text, error_) && items[1].id(to.back(), error_);
  }

  const JsonPart &file_;
  TokenizerSpec &spec_;
  LoadError &error_;
  std::size_t count_ = 0; // of the ids in the template
};

} // namespace

bool read_template(const JsonPart &file, TokenizerSpec &spec, LoadError &error) {
  return TemplateReader(file, spec, error).read();
}

} // namespace pretok
