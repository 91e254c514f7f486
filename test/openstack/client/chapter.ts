/**
 * One resource as the stock client handles it, a command a line:
 *
 *     [WHO:] [NAME=] [all] WORDS…
 *
 * NAME keeps the id of what the command printed for `{NAME}` in later lines; WHO is `admin`, `alt` or `reader` instead of the
 * cloud's plain user; `all` compares every row of a list, not only rows that tell of this run. `{p}` begins the name of
 * everything made. Words are split at blanks; single quotes keep blanks together. `settled NAME`
 * waits until a server, `settled KIND… NAME` until another resource, has nothing under way; `until STATUS KIND… NAME` for that status. Lines under `cleanup` are run, not compared.
 */
export interface Chapter {
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
  readonly whole: boolean;
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
  const match = /^(?:(\w+):\s+)?(?:(\w+)=\s+)?(all\s+)?(.*)$/.exec(text);
  const [, who, keep, whole, rest = ""] = match ?? [];
  const account = who === undefined ? "member" : accounts.find((name) => name === who);
  if (account === undefined) throw new TypeError(`no such account in "${text}"`);
  return { text, keep, account, whole: whole !== undefined, words: wordsOf(rest) };
}

function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ""));
}
