/**
 * One resource as the stock client handles it, a command a line:
 *
 *     [WHO:] [NAME=] [all|of(WORD|WORD…)] WORDS…
 *
 * NAME keeps the id of what the command printed for `{NAME}` in later lines; WHO is `admin`, `alt` or `reader` instead
 * of the cloud's plain user; `all` compares every row of a list, not only rows of this run, and `of` those in
 * which a field is one of its words: what others make meanwhile is left out. `{p}` begins the name of everything made,
 * `{P}` in capitals. Words are split at blanks; single quotes keep blanks together. `settled NAME` waits until a
 * server, `settled KIND… NAME` until another resource, has nothing under way; `until STATUS KIND… NAME` for that
 * status. Lines under `cleanup` are run, not compared.
 */
export interface Suite {
  readonly name: string;
  readonly lines: string;
  readonly cleanup?: string;
}

export const accounts = ["member", "admin", "alt", "reader"] as const;
export type Account = (typeof accounts)[number];

/** One line, read. */
export interface Command {
  readonly text: string;
  readonly keep: string | undefined;
  readonly account: Account;
  /** Which rows of a list are compared: those of this run, all, or those that have one of these words. */
  readonly rows: "own" | "all" | readonly string[];
  readonly words: readonly string[];
}

export function commandsOf(lines: string): readonly Command[] {
  return lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(commandOf);
}

function commandOf(text: string): Command {
  const match = /^(?:(\w+):\s+)?(?:(\w+)=\s+)?(?:(all)\s+|of\(([^)]*)\)\s+)?(.*)$/.exec(text);
  const [, who, keep, all, of, rest = ""] = match ?? [];
  const account = who === undefined ? "member" : accounts.find((name) => name === who);
  if (account === undefined) throw new TypeError(`no such account in "${text}"`);
  const rows = all !== undefined ? "all" : (of?.split("|") ?? "own");
  return { text, keep, account, rows, words: wordsOf(rest) };
}

function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ""));
}
