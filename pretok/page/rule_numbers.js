// Numbers that stand for a rule.

/** No rule of the preset matched. */
export const NO_RULE = -1;
/** The pre-token is a special token, which no rule makes. */
export const SPECIAL = -2;
