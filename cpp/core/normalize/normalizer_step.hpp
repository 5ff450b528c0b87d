// The normalizers of Hugging Face's library tokenizers, as data. bpe/normalizers/steps.py has a
// class for each type. To add a type, add a row to the table in normalizer_step.cpp.
#pragma once

#include "core/normalize/sentencepiece_normalizer.hpp"
#include "core/normalize/step_fields.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pretok {

class Growth;
class PassMaker;
struct NormalizerType;

// A normalizer has the members that its type visits. All others have no effect.
struct NormalizerStep {
  using Type = NormalizerType;

  const Type *type = nullptr;
  bool strip_left = false; // Strip
  bool strip_right = false;
  bool clean_text = false; // BertNormalizer
  bool handle_chinese_chars = false;
  std::optional<bool> strip_accents; // without a value, that of `lowercase`
  bool lowercase = false;
  Replacement replacement; // Replace; Prepend: only `content`
  CharsmapData charsmap;   // Precompiled, SentencePieceNormalizer
  SentencePieceNormalizer::Options sentencepiece{};

  bool is(std::string_view name) const;
};

struct NormalizerType {
  const char *name; // in a tokenizer.json
  void (*visit)(NormalizerStep &step, StepFields &fields);
  // Adds to `growth` how much the step grows a text. nullptr if it replaces a character by at
  // most as many bytes.
  void (*grow)(const NormalizerStep &step, Growth &growth);
  // Adds passes that do what the step says. nullptr for SentencePieceNormalizer, which stands
  // alone, and only in .pretok files.
  void (*add_passes)(const NormalizerStep &step, PassMaker &passes);
};

extern const StepTypes<NormalizerStep> NORMALIZER_TYPES;

inline bool NormalizerStep::is(std::string_view name) const {
  return type != nullptr && type->name == name;
}

// The pre-tokenizer Metaspace, which changes text after the search for normalized added tokens.
// MetaspaceStep of bpe/normalizers/chain.py does the same.
struct MetaspaceSpec {
  std::string replacement;
  PrependScheme prepend = PrependScheme::ALWAYS;
  std::optional<SplitSpec>
      before; // splits text into pieces, each of which is changed by itself
};

} // namespace pretok
