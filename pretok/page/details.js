// The details of the chosen piece, and the tip for the piece under the pointer. A piece is a
// pre-token or a token.

import { codePointNames, hex } from "./display.js";
import { grouped, make, regex, shownParts } from "./elements.js";
import { mergePlayer } from "./merges.js";
import { SPECIAL } from "./rule_numbers.js";
import { swatch } from "./rules.js";
import { triedRules } from "./tried.js";

const UNITS = { byte: "bytes", char: "code points", utf16: "UTF-16 units" };

/** Return the facts about a piece as rows [term, content]; `content` is a string or an element. */
function facts(piece, rules) {
  const [start, end] = piece.span.byte;
  const isCut = end - start > piece.bytes.length;
  const more = isCut ? " …" : "";
  const rows = [
    ["Bytes", Array.from(piece.bytes, hex).join(" ") + more],
    ["Code points", codePointNames(piece.bytes).join(" ") + more],
  ];
  for (const [unit, name] of Object.entries(UNITS)) {
    const [from, to] = piece.span[unit];
    rows.push([`In ${name}`, `${grouped(from)} to ${grouped(to)} (${grouped(to - from)})`]);
  }
  if (piece.ids.length) {
    const more = piece.idCount > piece.ids.length ? ` and ${piece.idCount - piece.ids.length} more` : "";
    rows.push([piece.isToken ? "Id" : "Ids", piece.ids.join(", ") + more]);
  }
  if (piece.preToken) {
    const { index, rule } = piece.preToken;
    rows.push(["Pre-token", grouped(index + 1)]);
    const pattern = rules?.[rule]?.pattern ?? "";
    rows.push(["Rule", make("span", {}, swatch(rule), " ", regex(pattern))]);
  }
  return rows;
}

function definitions(rows) {
  return make(
    "dl",
    { className: "facts" },
    ...rows.flatMap(([term, content]) => [make("dt", { textContent: term }), make("dd", {}, content)]),
  );
}

export class Details {
  #panel = document.getElementById("details");
  #body = document.getElementById("details-body");
  #heading = document.getElementById("details-heading");
  #ask;
  #hint = [...this.#body.children];
  #open = { tried: false, merges: false };
  #returnFocus = () => {};

  constructor(ask) {
    this.#ask = ask;
    this.#panel.tabIndex = -1;
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#returnFocus();
    });
    document.getElementById("details-close").addEventListener("click", () => {
      this.clear();
      this.#panel.focus();
    });
  }

  /**
   * Show `piece` of a side. `description` is the result of `Side.describe`. The Escape key calls
   * `returnFocus`.
   */
  show(piece, side, description, returnFocus) {
    this.#returnFocus = returnFocus;
    this.#panel.classList.remove("empty");
    this.#heading.textContent = piece.isToken ? "Token" : "Pre-token";
    const rules = description.preset?.rules;
    const shown = make("p", { className: "big" }, make("bdi", { dir: "auto" }, ...shownParts(piece.parts)));
    const children = [shown, definitions(facts(piece, rules))];
    if (piece.preToken && piece.preToken.rule !== SPECIAL && rules) {
      const { start } = piece.preToken;
      children.push(
        this.#section("tried", "Rules tried here", async () => {
          return triedRules(await this.#ask("explain", { side, start }), rules);
        }),
      );
    }
    if (description.vocabulary && piece.preToken?.rule !== SPECIAL) {
      const { start, end } = piece.preToken ?? { start: piece.span.byte[0], end: piece.span.byte[1] };
      children.push(
        this.#section("merges", `Merges of the ${piece.preToken ? "pre-token" : "token"}`, async () => {
          return mergePlayer(await this.#ask("merges", { side, start, end }));
        }),
      );
    }
    this.#body.replaceChildren(...children);
  }

  /** Show how to read the pieces, in place of one piece. */
  clear() {
    this.#panel.classList.add("empty");
    this.#heading.textContent = "How to read the pieces";
    this.#body.replaceChildren(...this.#hint);
  }

  focus() {
    (this.#body.querySelector("summary") ?? this.#panel).focus();
  }

  /** Return a section that is filled when it opens, and stays open for the next piece. */
  #section(key, title, fill) {
    const body = make("div");
    const section = make("details", { className: key }, make("summary", { textContent: title }), body);
    let isFilled = false;
    section.addEventListener("toggle", async () => {
      this.#open[key] = section.open;
      if (!section.open || isFilled) return;
      isFilled = true;
      try {
        body.replaceChildren(...(await fill()));
      } catch (error) {
        body.replaceChildren(make("p", { className: "note", textContent: error.message }));
      }
    });
    section.open = this.#open[key];
    return section;
  }
}

/** The tip: short facts beside the piece under the pointer. */
export class Tip {
  #element = document.getElementById("tip");

  constructor() {
    addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.hide();
    });
    addEventListener("scroll", () => this.hide(), { passive: true, capture: true });
  }

  show(piece, anchor, rules) {
    const unwanted = ["Code points", "Pre-token"];
    const rows = facts(piece, rules).filter(([term]) => !unwanted.includes(term));
    this.#element.replaceChildren(definitions(rows));
    this.#element.hidden = false;
    const box = anchor.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.#element;
    const left = Math.max(4, Math.min(box.left, innerWidth - offsetWidth - 4));
    const below = box.bottom + 6;
    const top = below + offsetHeight < innerHeight ? below : box.top - offsetHeight - 6;
    this.#element.style.left = `${left}px`;
    this.#element.style.top = `${Math.max(4, top)}px`;
  }

  hide() {
    this.#element.hidden = true;
  }
}
