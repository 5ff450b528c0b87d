// The view of one side: its settings, counts, pieces and rules.

import { startsRightToLeft } from "./display.js";
import { counted, grouped, make } from "./elements.js";
import { PieceList } from "./pieces.js";
import { ruleRows } from "./rules.js";

const EXACTNESS = {
  tested: "tests compare it with the engine",
  approximate: "it differs from the original",
  unknown: "the original is not known",
};

const CONVERT =
  'To use the split of the file, convert it in Python: bpe.load("tokenizer.json").save("name.pretok").';
const NO_SPLIT =
  "This model merges the characters of the whole text, so there are no pre-tokens and no rules.";

export class SideView {
  /**
   * `events` has the functions of PieceList, and change(), open(file) and close().
   */
  constructor(name, { presets, unicodeVersions }, events) {
    const template = document.getElementById("side-template");
    this.element = template.content.firstElementChild.cloneNode(true);
    this.name = name;
    const id = name.toLowerCase();
    const heading = this.#find("h2");
    heading.textContent = name;
    heading.id = `side-${id}`;
    this.element.setAttribute("aria-labelledby", heading.id);
    this.#fillSelects(presets, unicodeVersions, id);
    const pieces = this.#find(".pieces");
    pieces.id = `pieces-${id}`;
    pieces.setAttribute("aria-label", `Pieces of ${name}`);
    this.list = new PieceList(pieces, events);
    this.#find(".rules").open = !matchMedia("(max-width: 50rem)").matches;
    this.#listen(events);
  }

  #find(selector) {
    return this.element.querySelector(selector);
  }

  #fillSelects(presets, unicodeVersions, id) {
    this.preset = this.#find(".preset");
    this.unicode = this.#find(".unicode");
    this.preset.id = `preset-${id}`;
    this.unicode.id = `unicode-${id}`;
    this.#find(".preset-label").htmlFor = this.preset.id;
    this.#find(".unicode-label").htmlFor = this.unicode.id;
    this.preset.append(
      ...presets.map(({ name, aliases }) =>
        make("option", { value: name, textContent: name, title: aliases.join(", ") }),
      ),
    );
    this.unicode.append(
      make("option", { value: "", textContent: "Unicode: auto" }),
      ...unicodeVersions.map((version) =>
        make("option", { value: version, textContent: `Unicode ${version}` }),
      ),
    );
    this.unicode.hidden = unicodeVersions.length < 2;
  }

  #listen(events) {
    this.preset.addEventListener("change", () => events.change());
    this.unicode.addEventListener("change", () => events.change());
    const file = this.#find(".vocabulary");
    file.addEventListener("change", () => {
      if (file.files.length) events.open(file.files[0]);
      file.value = "";
    });
    this.#find(".vocabulary-note button").addEventListener("click", () => events.close());
    this.#find(".earlier").addEventListener("click", () => events.page(true));
    this.#find(".later").addEventListener("click", () => events.page(false));
  }

  /** If `isOffered`, offer the split of the vocabulary file among the presets; else remove it. */
  offerSplitOfFile(isOffered) {
    this.preset.querySelector('option[value=""]')?.remove();
    if (isOffered) this.preset.prepend(make("option", { value: "", textContent: "split of the file" }));
  }

  /** Show `side`, the result of `Side.describe`. `length` has the length of the text by unit. */
  describe(side, length, view) {
    this.#find(".error")?.remove();
    if (side.error !== undefined) {
      this.#find(".bar").after(make("p", { className: "error", textContent: side.error }));
    }
    this.#showVocabulary(side);
    this.#showRules(side);
    const counts = [
      ["pre-tokens", side.preTokens],
      ["tokens", side.tokens],
    ].filter(([, count]) => count !== null && count !== undefined);
    const wantsTokens = view === "tokens" && side.error === undefined && !side.vocabulary;
    this.#find(".hint").hidden = !wantsTokens;
    if (side.tokens) counts.push(["bytes per token", (length.byte / side.tokens).toFixed(2)]);
    this.#find(".counts").replaceChildren(...counts.map(([term, count]) => countItem(term, count)));
  }

  #showVocabulary({ vocabulary, isNormalized, preset, preTokens }) {
    const note = this.#find(".vocabulary-note");
    note.hidden = !vocabulary;
    if (!vocabulary) return;
    const { name, size, special, hasOwnSplit, problem } = vocabulary;
    const words = [`${name}: ids below ${grouped(size)}, ${counted(special, "special token")}.`];
    if (!hasOwnSplit) {
      const reason = problem ? `: ${problem}` : ", not the file";
      words.push(`The preset ${preset.name} splits the text${reason}.`);
      if (problem && name.endsWith(".json")) words.push(CONVERT);
    }
    if (preTokens === null) words.push(NO_SPLIT);
    if (isNormalized) words.push("The tokenizer normalizes this text; the normalized text is shown.");
    note.firstElementChild.textContent = words.join(" ");
  }

  #showRules({ preset, ruleCounts }) {
    const rules = this.#find(".rules");
    rules.hidden = !preset;
    if (!preset) return;
    const engine = preset.engine === "hf" ? "Hugging Face tokenizers" : "tiktoken";
    rules.querySelector("summary").textContent = `Rules of ${preset.name}`;
    const source = preset.source ? `Source: ${preset.source}. ` : "";
    rules.querySelector(".note").textContent =
      `As in ${engine}, Unicode ${preset.unicode}; ${EXACTNESS[preset.exactness]}. ` +
      `${source}The first rule that matches makes the pre-token.`;
    rules.querySelector("tbody").replaceChildren(...ruleRows(preset, ruleCounts));
  }

  /** Show a window of pieces. */
  show(pieces, label, { earlier, later }) {
    const shown = pieces?.pieces ?? [];
    const isRightToLeft = startsRightToLeft(shown.slice(0, 50).map((piece) => piece.spoken).join(""));
    this.list.show(shown, label, isRightToLeft);
    const pages = this.#find(".pages");
    pages.hidden = !pieces || (earlier === null && later === null);
    if (pages.hidden) return;
    const { first, total } = pieces;
    const last = first + shown.length;
    this.#find(".range").textContent =
      `${grouped(first + 1)} to ${grouped(last)} of ${grouped(total)}`;
    this.#find(".earlier").disabled = earlier === null;
    this.#find(".later").disabled = later === null;
  }
}

function countItem(term, count) {
  const value = typeof count === "number" ? grouped(count) : count;
  return make("div", {}, make("dt", { textContent: term }), make("dd", { textContent: value }));
}
