// The list of pieces of one side: a list box in which one piece at a time has the focus.
//
// A piece is a pre-token or a token, as the page shows either pre-tokens or tokens.

import { NO_RULE_NAME, SPECIAL_NAME, ruleClass, ruleName } from "./rules.js";
import { grouped, make, shownParts } from "./elements.js";

export class PieceList {
  #element;
  #events;
  #pieces = [];
  #options = [];
  #current = -1;

  /**
   * `events` has the functions choose(piece), point(piece, element), leave(), page(isBackward) and
   * enter().
   */
  constructor(element, events) {
    this.#element = element;
    this.#events = events;
    element.addEventListener("click", (event) => this.#onClick(event));
    element.addEventListener("keydown", (event) => this.#onKey(event));
    element.addEventListener("focus", () => this.#choose(Math.max(0, this.#current)));
    element.addEventListener("pointerover", (event) => this.#onPoint(event));
    element.addEventListener("pointerleave", () => events.leave());
  }

  /** Show `pieces`. `label` says what to show under each piece: "none", "rule", "id" or a unit. */
  show(pieces, label, isRightToLeft) {
    this.#pieces = pieces;
    this.#current = -1;
    this.#options = pieces.map((piece, i) => this.#option(piece, i, label));
    const children = [];
    pieces.forEach((piece, i) => {
      children.push(this.#options[i]);
      if (piece.parts.some(({ kind }) => kind === "break")) {
        children.push(make("span", { className: "line-end", role: "presentation" }));
      }
    });
    this.#element.dir = isRightToLeft ? "rtl" : "ltr";
    this.#element.tabIndex = 0;
    this.#element.replaceChildren(...children);
  }

  /** Choose the first piece that starts at or after byte `start`. */
  chooseAt(start, hasFocus = true) {
    const i = this.#pieces.findIndex((piece) => piece.span.byte[0] >= start);
    if (i >= 0) this.#choose(i, hasFocus);
  }

  #option(piece, i, label) {
    const classes = ["piece", ruleClass(piece.preToken?.rule)];
    const next = this.#pieces[i + 1];
    const [start, end] = piece.span.byte;
    if (!piece.isToken || !piece.preToken || start <= piece.preToken.start) classes.push("begins");
    if (!piece.isToken || !piece.preToken || end >= piece.preToken.end || !next) classes.push("ends");
    if (piece.index % 2) classes.push("odd");
    if (piece.differs) classes.push("differs");
    const option = make(
      "span",
      {
        className: classes.join(" "),
        role: "option",
        tabIndex: -1,
        "aria-selected": "false",
        "aria-label": spokenPiece(piece, label),
      },
      make("bdi", { className: "shown", dir: "auto" }, ...shownParts(piece.parts)),
    );
    const under = labelOf(piece, label);
    if (under) option.append(make("span", { className: "label", textContent: under }));
    return option;
  }

  #choose(i, hasFocus = true) {
    const option = this.#options[i];
    if (!option) return;
    const before = this.#options[this.#current];
    before?.setAttribute("aria-selected", "false");
    if (before) before.tabIndex = -1;
    this.#element.tabIndex = -1;
    option.setAttribute("aria-selected", "true");
    option.tabIndex = 0;
    this.#current = i;
    if (hasFocus) option.focus();
    else option.scrollIntoView({ block: "nearest" });
    this.#events.choose(this.#pieces[i]);
  }

  #indexOf(target) {
    const option = target.closest('[role="option"]');
    return this.#options.indexOf(option);
  }

  #onClick({ target }) {
    const i = this.#indexOf(target);
    if (i >= 0) this.#choose(i);
  }

  #onPoint({ target, pointerType }) {
    const i = this.#indexOf(target);
    if (i >= 0 && pointerType !== "touch") this.#events.point(this.#pieces[i], this.#options[i]);
  }

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const back = this.#element.dir === "rtl" ? "ArrowRight" : "ArrowLeft";
    const forth = this.#element.dir === "rtl" ? "ArrowLeft" : "ArrowRight";
    const moves = {
      [back]: () => this.#choose(this.#current - 1),
      [forth]: () => this.#choose(this.#current + 1),
      ArrowUp: () => this.#chooseLine(-1),
      ArrowDown: () => this.#chooseLine(1),
      Home: () => this.#choose(0),
      End: () => this.#choose(this.#pieces.length - 1),
      PageUp: () => this.#events.page(true),
      PageDown: () => this.#events.page(false),
      Enter: () => this.#events.enter(),
      " ": () => this.#events.enter(),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  }

  /** Choose the nearest piece of the line above (`direction` -1) or below (`direction` 1). */
  #chooseLine(direction) {
    const options = this.#options;
    const current = options[this.#current];
    if (!current) return;
    const here = current.getBoundingClientRect();
    const middle = (here.left + here.right) / 2;
    let best = -1;
    let line = null;
    let distance = Infinity;
    for (let i = this.#current + direction; options[i]; i += direction) {
      const box = options[i].getBoundingClientRect();
      if (direction > 0 ? box.top < here.bottom : box.bottom > here.top) continue;
      line ??= box.top;
      if (Math.abs(box.top - line) > here.height / 2) break;
      const away = Math.abs((box.left + box.right) / 2 - middle);
      if (away < distance) [best, distance] = [i, away];
    }
    if (best >= 0) this.#choose(best);
  }
}

/** Return the text to show under a piece. */
function labelOf(piece, label) {
  if (label === "none") return "";
  if (label === "id") return piece.ids.length ? piece.ids.join(" ") + (piece.idCount > piece.ids.length ? " …" : "") : "";
  if (label === "rule") return piece.preToken ? ruleName(piece.preToken.rule) : "";
  const [start, end] = piece.span[label];
  return `${grouped(start)}–${grouped(end)}`;
}

/** Return the description of a piece for a screen reader. */
function spokenPiece(piece, label) {
  const words = [piece.spoken];
  if (piece.isToken) words.push(`id ${piece.ids[0]}`);
  if (piece.preToken) words.push(spokenRule(piece.preToken.rule));
  const unit = { char: "code points", utf16: "UTF-16 units" }[label];
  const [start, end] = piece.span[unit ? label : "byte"];
  words.push(`${unit ?? "bytes"} ${start} to ${end}`);
  if (piece.differs) words.push("differs");
  return words.join(", ");
}

function spokenRule(rule) {
  const name = ruleName(rule);
  return name === NO_RULE_NAME || name === SPECIAL_NAME ? name : `rule ${name}`;
}
