#include "formats/json_readers.hpp"

#include <string>
#include <utility>
#include <vector>

namespace pretok {
namespace {

constexpr std::size_t MAX_ENTRIES =
    MAX_TEMPLATE_IDS + 1; // with the one that stands for the text

// Reads the ids of a template.
class TemplateReader {
public:
  explicit TemplateReader(TokenizerSpec &spec) : spec_(spec) {}

  void read(const JsonPart &part) {
    std::vector<std::uint32_t> before;
    std::vector<std::uint32_t> after;
    const std::string_view kind = part.kind();
    bool trims = false;
    if (kind == "TemplateProcessing") {
      read_pieces(part, before, after);
    } else if (kind == "RobertaProcessing" || kind == "BertProcessing") {
      part.only({"type", "sep", "cls"});
      // tokenizers tells the two apart by these members, not by the type.
      trims = part["trim_offsets"].is_present() && part["add_prefix_space"].is_present();
      add_to_count(part, 2);
      before.push_back(id_of(part["cls"]));
      after.push_back(id_of(part["sep"]));
    } else if (kind == "ByteLevel") { // changes only offsets
      part.only({"type"});
      trims = true;
    } else {
      part.fail_unsupported("expected TemplateProcessing, RobertaProcessing, BertProcessing or "
                            "ByteLevel");
    }
    if (trims && part["trim_offsets"].flag_or(true))
      spec_.trims.push_back(part["add_prefix_space"].flag_or(true));
    // Each processor puts its ids around the ids of the processors before it.
    spec_.before.insert(spec_.before.begin(), before.begin(), before.end());
    spec_.after.insert(spec_.after.end(), after.begin(), after.end());
  }

private:
  // Adds `more` to the number of ids of the template. Fails if they are too many. `entry` is
  // the part of the file that adds them.
  void add_to_count(const JsonPart &entry, std::size_t more) {
    count_ += more;
    if (count_ > MAX_TEMPLATE_IDS)
      entry.fail_malformed("a template of at most " + std::to_string(MAX_TEMPLATE_IDS) +
                           " ids, got " + std::to_string(count_) +
                           " up to this entry; remove entries, or ids of special_tokens");
  }

  // Reads a TemplateProcessing. Its pieces are special tokens and the Sequence "A", which
  // stands for the text. Appends the ids before and after "A".
  void read_pieces(const JsonPart &part, std::vector<std::uint32_t> &before,
                   std::vector<std::uint32_t> &after) {
    part.only({"type", "single", "pair", "special_tokens"});
    const JsonPart single = part["single"];
    const JsonPart::Children pieces = single.items();
    const std::size_t entries = pieces.size();
    if (entries > MAX_ENTRIES)
      single.fail_malformed("at most " + std::to_string(MAX_ENTRIES) + " entries, got " +
                            std::to_string(entries) + "; remove some of them");
    bool is_after_text = false;
    for (const JsonPart piece : pieces) {
      if (!piece.is_fine())
        return;
      piece.only({"SpecialToken", "Sequence"});
      const JsonPart token = piece["SpecialToken"];
      if (token.is_present()) {
        const JsonPart special = part["special_tokens"][token["id"].text()];
        read_ids(piece, special["ids"], is_after_text ? after : before);
      } else if (piece["Sequence"]["id"].text() != "A" || std::exchange(is_after_text, true)) {
        piece.fail_unsupported("expected the Sequence \"A\" exactly once");
      }
    }
    if (!is_after_text)
      single.fail_unsupported("expected the Sequence \"A\" exactly once");
  }

  // Appends the ids of a special token, which `entry` of the template names.
  void read_ids(const JsonPart &entry, const JsonPart &ids, std::vector<std::uint32_t> &to) {
    const JsonPart::Children listed = ids.items();
    add_to_count(entry, listed.size());
    for (const JsonPart id : listed)
      if (id.is_fine())
        to.push_back(id.id());
  }

  // Returns the id in a list of a text and its id.
  static std::uint32_t id_of(const JsonPart &pair) {
    const std::vector<JsonPart> items = pair.items().listed();
    if (items.size() != 2) {
      pair.fail_malformed("a list of a text and its id");
      return 0;
    }
    items[0].text();
    return items[1].id();
  }

  TokenizerSpec &spec_;
  std::size_t count_ = 0; // of the ids in the template
};

} // namespace

void read_template(const JsonPart &post_processor, TokenizerSpec &spec) {
  TemplateReader reader(spec);
  for (const JsonPart &part : post_processor.parts("processors"))
    if (part.is_present() && part.is_fine())
      reader.read(part);
}

} // namespace pretok
