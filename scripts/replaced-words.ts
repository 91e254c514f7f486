/** The table of docs/style.md as patterns: what is refused, and what to write. */

/** A pattern of words that are replaced. */
export interface Replaced {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** Words in two parts, so that this file does not use them. */
const word = (first: string, rest: string, instead: string): Replaced => prose(`${first}${rest}`, instead);
/** What follows a word in a lookahead is its permitted sense. */
const prose = (pattern: string, instead: string): Replaced => ({
  pattern: new RegExp(`\\b(?:${pattern})(?!\\w)`, "gi"),
  instead,
});

/** Refused in every line, code included. */
export const EVERYWHERE: readonly Replaced[] = [
  word("tol", "d", "reported, returned, logged"),
  word("tel", "ls", "reports, returns, logs"),
  word("ane", "w", "again; recreate"),
  word("men", "d", "fix, repair"),
  word("men", "ds", "fixes, repairs"),
  word("men", "ded", "fixed, repaired"),
  word("bea", "rs", "has"),
  word("nobod", "y", "the name of the actor: no user, no controller"),
  word("somebod", "y", "the name of the actor"),
  word("whoeve", "r", "the name of the actor"),
  word("let ", "go", "release"),
  word("named ", "otherwise", "renamed"),
  word("besid", "e", "next to, in addition to"),
  word("chosen ", "once", "immutable"),
  { pattern: /\bMaybe</g, instead: "MaybePromise<" },
];

/** Refused in prose: some of them are names in code. */
export const IN_PROSE: readonly Replaced[] = [
  prose("asked", "requested, queried, called"),
  prose("answered", "responded, returned, got the response"),
  prose("look(?:s|ed|ing)?(?!\\s+(?:up|like|alike)\\b)", "read, search, check"),
  prose("(?:go|goes|going|went)\\s+on", "continue"),
  prose("stay(?:s|ed|ing)?", "remain"),
  prose("lies?", "is"),
  prose("stood|stand(?:s|ing)?(?!-|\\s+alone\\b)", "is, represents, exists"),
  prose("taken", "accepted, in use, created, removed"),
  prose("patience", "resyncInterval, timeout"),
  prose("quality(?![\\s-]of[\\s-]service)", "QoS policy, QoS class"),
  prose("circles?", "cycle"),
  prose(
    "(?:has|have)\\s+not(?=[.,;:)]|\\s+(?:an?|the|all|any|its|their|what|and|or|\\d+)\\b)",
    "does not have, support",
  ),
];

/** Refused in prose about Kubernetes, unless it is of ports, columns or a document of OpenAPI. */
export const OF_KUBERNETES: readonly Replaced[] = [
  prose(
    "(?<!(?:port|previous|message|resource|columns'|common|properties)\\s+|[/.,])definitions?(?![./}]|\\s+from\\s+spec)",
    "CRD",
  ),
];

/** What Kubernetes, Go and their tests say, in their words. */
export const UPSTREAM = new RegExp(
  [
    "looking for beginning of",
    "has asked (?:for the client to|us to try again)",
    "blocked by dependency circle",
    "(?:patternProperties|\\$ref) definitions",
  ].join("|"),
  "g",
);
