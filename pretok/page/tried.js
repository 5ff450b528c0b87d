// Tables of the rules that were tried at the start of a pre-token: one table for each stage.

import { visibleParts } from "./display.js";
import { make, regex, shownParts } from "./elements.js";
import { NO_RULE } from "./rule_numbers.js";
import { swatch } from "./rules.js";

/** Return the elements that show `stages`, the result of `Side.explain`. */
export function triedRules(stages, rules) {
  return stages.flatMap((stage, i) => {
    const elements = [];
    if (stages.length > 1) {
      const title = make("h3", { textContent: `Stage ${i + 1} of ${stages.length}, on ` });
      title.append(quoted(stage.piece));
      elements.push(title);
    }
    if (stage.before) {
      elements.push(make("p", { className: "note", textContent: "The match starts before the pre-token." }));
    }
    const rows = stage.tried.map(({ rule, match }) => row(rule, rules[rule]?.pattern ?? "", match));
    if (stage.rule === NO_RULE) rows.push(row(NO_RULE, "", null));
    elements.push(table(rows));
    if (stage.isDropped) elements.push(make("p", {}, "The stage drops ", quoted(stage.part), "."));
    else if (stages.length > 1) elements.push(make("p", {}, "The stage makes ", quoted(stage.part), "."));
    return elements;
  });
}

function row(rule, pattern, match) {
  const result = match === null ? ["no match"] : ["matches ", quoted(match)];
  return make(
    "tr",
    { className: match === null ? "failed" : "matched" },
    make("th", { scope: "row" }, swatch(rule)),
    make("td", {}, regex(pattern)),
    make("td", {}, ...(rule === NO_RULE ? ["No rule matched."] : result)),
  );
}

function table(rows) {
  const names = ["Rule", "Regex alternative", "Result"];
  const head = names.map((name) => make("th", { scope: "col", textContent: name }));
  return make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}

function quoted(bytes) {
  return make("bdi", { className: "quoted", dir: "auto" }, ...shownParts(visibleParts(bytes)));
}
