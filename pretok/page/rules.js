// Names and colors of rules, and the table of the rules of a side.

import { grouped, make, regex } from "./elements.js";
import { NO_RULE, SPECIAL } from "./rule_numbers.js";

export const NO_RULE_NAME = "no rule";
export const SPECIAL_NAME = "special";
const COLORS = 8;

/** Return the name of a rule: its number, from 1. */
export function ruleName(rule) {
  if (rule === SPECIAL) return SPECIAL_NAME;
  return rule === NO_RULE ? NO_RULE_NAME : String(rule + 1);
}

/** Return the class that gives a piece the color of its rule. */
export function ruleClass(rule) {
  if (rule === undefined) return "plain";
  if (rule === SPECIAL) return "special";
  return rule === NO_RULE ? "gap" : `color-${rule % COLORS}`;
}

/** Return an element that shows the number of a rule in the color of the rule. */
export function swatch(rule) {
  return make("span", { className: `swatch ${ruleClass(rule)}`, textContent: ruleName(rule) });
}

/** Return the rows of the table: each rule with its regex alternative and number of pre-tokens. */
export function ruleRows({ rules, stages }, counts) {
  const rows = [];
  for (const [number, stage] of stages.entries()) {
    if (stages.length > 1) {
      const effect = stage.behavior === "isolated" ? "" : `, matches ${stage.behavior.replaceAll("_", " ")}`;
      const title = `Stage ${number + 1}${effect}${stage.invert ? ", inverted" : ""}`;
      rows.push(make("tr", {}, make("th", { colSpan: 3, scope: "rowgroup", textContent: title })));
    }
    for (const { index, pattern } of rules.filter((rule) => rule.stage === number)) {
      rows.push(row(index, pattern, counts));
    }
  }
  if (counts.has(NO_RULE)) rows.push(row(NO_RULE, "", counts));
  if (counts.has(SPECIAL)) rows.push(row(SPECIAL, "", counts));
  return rows;
}

function row(rule, pattern, counts) {
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, swatch(rule)),
    make("td", {}, regex(pattern)),
    make("td", { className: "number", textContent: grouped(counts.get(rule) ?? 0) }),
  );
}
