#include "formats/json_template.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

class TemplateReader {
public:
  TemplateReader(const JsonPart &file, Model &model, Fault &fault)
      : file_(file), model_(model), fault_(fault) {}

  bool read() {
    JsonPart post_processor;
    std::vector<JsonPart> parts;
    if (!file_.get("post_processor", post_processor, fault_) ||
        !post_processor.parts("processors", parts, fault_))
      return false;
    for (const JsonPart &part : parts) {
      std::string_view kind;
      std::vector<std::uint32_t> before;
      std::vector<std::uint32_t> after;
      if (!part.is_there)
        continue;
      if (!part.kind(kind, fault_))
        return false;
      if (kind == "TemplateProcessing") {
        if (!read_pieces(part, before, after))
          return false;
      } else if (kind == "RobertaProcessing" || kind == "BertProcessing") {
        if (!part.only({"type", "sep", "cls", "trim_offsets", "add_prefix_space"}, fault_) ||
            !read_end(part, "cls", before) || !read_end(part, "sep", after))
          return false;
      } else if (kind != "ByteLevel") { // which changes offsets only
        return is_not_done(part, "TemplateProcessing, RobertaProcessing, BertProcessing and "
                                 "ByteLevel are known");
      }
      model_.before.insert(model_.before.begin(), before.begin(), before.end());
      model_.after.insert(model_.after.end(), after.begin(), after.end());
    }
    return true;
  }

private:
  bool is_not_done(const JsonPart &part, const std::string &advice) {
    fault_ = part.unsupported(advice);
    return false;
  }

  bool read_pieces(const JsonPart &part, std::vector<std::uint32_t> &before,
                   std::vector<std::uint32_t> &after) {
    JsonPart single;
    JsonPart special;
    std::vector<JsonPart> pieces;
    if (!part.only({"type", "single", "pair", "special_tokens"}, fault_) ||
        !part.get("single", single, fault_) || !single.items(pieces, fault_) ||
        !part.get("special_tokens", special, fault_))
      return false;
    bool is_behind = false;
    for (const JsonPart &piece : pieces) {
      JsonPart token;
      JsonPart sequence;
      JsonPart id;
      std::string_view name;
      if (!piece.only({"SpecialToken", "Sequence"}, fault_) ||
          !piece.get("SpecialToken", token, fault_) || !piece.get("Sequence", sequence, fault_))
        return false;
      if (!(token.is_there ? token : sequence).get("id", id, fault_) || !id.text(name, fault_))
        return false;
      if (token.is_there) {
        if (!read_special(special, name, is_behind ? after : before))
          return false;
      } else if (name != "A" || std::exchange(is_behind, true)) {
        return is_not_done(piece, "a template for one text has that, \"A\", once");
      }
    }
    return is_behind || is_not_done(single, "a template for one text has that, \"A\", once");
  }

  // The ids of a special token of a template.
  bool read_special(const JsonPart &special, std::string_view name,
                    std::vector<std::uint32_t> &to) {
    JsonPart token;
    JsonPart listed;
    std::vector<JsonPart> ids;
    if (!special.get(name, token, fault_) || !token.get("ids", listed, fault_) ||
        !listed.items(ids, fault_))
      return false;
    return std::all_of(ids.begin(), ids.end(), [&](const JsonPart &each) {
      to.push_back(0);
      return each.id(to.back(), fault_);
    });
  }

  // The id of a pair of a text and its id.
  bool read_end(const JsonPart &part, const char *name, std::vector<std::uint32_t> &to) {
    JsonPart pair;
    std::vector<JsonPart> items;
    std::string_view text;
    if (!part.get(name, pair, fault_) || !pair.items(items, fault_))
      return false;
    if (items.size() != 2) {
      fault_ = pair.malformed("a text and its id");
      return false;
    }
    to.push_back(0);
    return items[0].text(text, fault_) && items[1].id(to.back(), fault_);
  }

  const JsonPart &file_;
  Model &model_;
  Fault &fault_;
};

} // namespace

bool read_template(const JsonPart &file, Model &model, Fault &fault) {
  return TemplateReader(file, model, fault).read();
}

} // namespace pretok
