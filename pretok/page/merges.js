// Step through the merges of one pre-token.

import { visibleParts } from "./display.js";
import { grouped, make, shownParts } from "./elements.js";

/** Return the elements that show `trace`, the result of `Side.merges`. */
export function mergePlayer(trace) {
  const { bytes, pieces, steps, ids, isWholeToken } = trace;
  if (isWholeToken) {
    const text = `The vocabulary has the whole pre-token as token ${ids[0]}, without merges.`;
    return [make("p", { textContent: text })];
  }
  const slider = make("input", { type: "range", min: 0, max: steps.length, value: 0 });
  const row = make("ol", { className: "merge-pieces", "aria-label": "Pieces" });
  const report = make("p", { role: "status" });
  const move = (distance) => {
    slider.value = Number(slider.value) + distance;
    show();
  };
  const button = (text, name, distance) => {
    const element = make("button", { type: "button", textContent: text, "aria-label": name });
    element.addEventListener("click", () => move(distance));
    return element;
  };
  const previous = button("◀", "Previous merge", -1);
  const next = button("▶", "Next merge", 1);

  function show() {
    const number = Number(slider.value);
    const step = steps[number - 1];
    const cuts = step ? step.pieces : pieces;
    const following = steps[number];
    row.replaceChildren(
      ...Array.from(cuts.subarray(1), (end, i) => {
        const piece = bytes.subarray(cuts[i], end);
        const isNew = step !== undefined && i === step.place;
        const merges = following && (i === following.place || i === following.place + 1);
        const className = `merge-piece${isNew ? " new" : ""}${merges ? " next" : ""}`;
        return make("li", { className }, make("bdi", { dir: "auto" }, ...shownParts(visibleParts(piece))));
      }),
    );
    report.textContent = step ? reportOf(number, step) : start(steps.length);
    slider.setAttribute("aria-valuetext", `merge ${number} of ${steps.length}`);
    previous.disabled = number === 0;
    next.disabled = number === steps.length;
  }

  function reportOf(number, { left, right, id, rank }) {
    return (
      `Merge ${number} of ${steps.length}: ${left} + ${right} → ${id}, rank ${grouped(rank)}.` +
      (number === steps.length ? ` ${idsOf(ids)}` : "")
    );
  }

  function start(count) {
    if (count === 0) return `No merge applies. ${idsOf(ids)}`;
    return `${pieces.length - 1} pieces before the first of ${count} merges.`;
  }

  slider.addEventListener("input", show);
  slider.setAttribute("aria-label", "Merges done");
  show();
  const controls = make("div", { className: "bar" }, previous, slider, next);
  return steps.length > 0 ? [controls, row, report] : [row, report];
}

function idsOf(ids) {
  return ids.length === 1 ? `The id is ${ids[0]}.` : `The ids are ${[...ids].join(", ")}.`;
}
