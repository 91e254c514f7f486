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
  word("men", "ding", "fixing, repairing"),
  word("bea", "rs", "has"),
  word("nobod", "y", "the name of the actor: no user, no controller"),
  word("somebod", "y", "the name of the actor"),
  word("whoeve", "r", "the name of the actor"),
  word("let(?:s|ting)? ", "go", "release"),
  word("named ", "otherwise", "renamed"),
  word("besid", "es?", "next to, in addition to"),
  word("cho(?:oses?|osing|se|sen) ", "once", "immutable"),
  { pattern: /\bMaybe</g, instead: "MaybePromise<" },
];

/** Refused in prose: some of them are names in code. */
export const IN_PROSE: readonly Replaced[] = [
  prose("asked|asking", "requested, queried, called"),
  prose("answered|answering", "responded, returned, got the response"),
  prose("tell|telling", "report, return, show, send"),
  prose("bear|bearing|bore|borne", "have"),
  prose(
    "(?:any|every|some)(?:body|one)|no[\\s-]one",
    "the name of the actor: a user, every client, another controller",
  ),
  prose("look(?:s|ed|ing)?(?!\\s+(?:up|like|alike)\\b)", "read, search, check"),
  prose("(?:go|goes|going|went|gone)\\s+on", "continue"),
  prose("stay(?:s|ed|ing)?", "remain"),
  prose("lies?|lying|lays?|lain", "is"),
  prose("stood|stand(?:s|ing)?(?!-|\\s+alone\\b)", "is, represents, exists"),
  prose("taken", "accepted, in use, created, removed"),
  prose("patien(?:ce|t|tly)", "resyncInterval, timeout"),
  prose("qualit(?:y|ies)(?![\\s-]of[\\s-]service)", "QoS policy, QoS class"),
  prose("circl(?:e|es|ed|ing)", "cycle"),
  prose(
    "(?:has|have|had)\\s+not(?=[.,;:)]|\\s+(?:an?|the|all|any|its|their|what|and|or|\\d+)\\b)",
    "does not have, support",
  ),
  { pattern: /(?<=\()issues?\s+\d+/gi, instead: "the subject of the work: readers do not know its number" },
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
