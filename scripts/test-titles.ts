/**
 * The titles of tests stand alone: who reads only the line of a failing test knows what broke. A title is read with
 * those of the `describe`s around it. This check has the part of that rule a program can decide: subject first, a verb,
 * four words, and no two alike in one file.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parsedFile } from "./parsed.ts";

/** Where tests are, from the root. */
const FOLDERS = ["packages", "scripts", "test"];
const LEAST_WORDS = 4;

/** Words that refer to something before them, or leave the subject without a name: no title begins so. */
const REFERRING = /^(?:it|its|they|their|this|that|these|those|works|what|whatever|who|whom|which|where|how)\b/i;
/** Conjunctions: not even a title below a `describe` begins so, since each test can fail alone. */
const JOINING = /^(?:and|also|or|but|then|so)\b/i;
/** Verbs that a title without a `describe` begins with when it lacks its subject. */
const SUBJECTLESS = new RegExp(
  `^(?:${[
    "accepts adds adopts allows announces answers applies asks begins binds breaks builds checks chooses compares",
    "computes confirms copies counts creates decides deletes describes detaches does draws encodes ends evicts expands",
    "extends fails fills finds follows forwards gets gives goes grows hands has ignores is joins judges keeps leaves",
    "lets loses makes marks moves opens parses permits prefers prints publishes puts reads refuses rejects",
    "removes renders repeats replaces reports resolves restores returns rounds runs says sees sends serves sets shows",
    "signs skips sorts spreads starts stops stores syncs takes translates treats tries waits warns wraps",
  ]
    .join(" ")
    .replaceAll(" ", "|")})\\b`,
);
/** What a verb looks like: a form in -s or -ed that is no possessive, or one of those that have neither. */
const VERB = new RegExp(
  `\\b(?:[a-z]{2,}(?<!ss|us|'s)s|[a-z]{2,}ed|${[
    "is are was were be been has have had do does did can may must cannot will would not",
    "begin belong bring call carry change come count cover depend differ end expire fail fit follow get give go grow hold",
    "keep know lack leave let lose make mark match mean name need open pass publish put reach read refuse repeat",
    "return run say see send serve set share show sign sort speak stop take turn use wait want win work write",
    "accept add allow apply ask become cost create decide delete drain find join land move own replace request require",
    "skip understand arrive send list made kept said found sent given left held put cut shut built brought",
    "gone begun broken chosen known led lost met paid run seen shown spread understood written won",
  ]
    .join(" ")
    .replaceAll(" ", "|")})\\b`,
  "i",
);

/** Titles that end with a placeholder: the rows of a table give them the rest of their words. */
const ROWS = /(?:%[sjoid]|\$\w+|\})$/;
/** Numbers of findings and acceptance cases, as "(D9)": the list that they are from is not in this repository. */
const NUMBERED = /\([A-Z]\d+\)/;
/** The forms of test and describe, as `test.each(…)(…)`. */
const FORMS = ["concurrent", "each", "fails", "for", "only", "runIf", "sequential", "skip", "skipIf", "todo"];

/** A test as the syntax has it. */
interface Title {
  /** With the titles around it. */
  readonly full: string;
  readonly own: string;
  readonly isTop: boolean;
  readonly line: number;
}

/** Every title that does not stand alone, one line each. */
export function checkTestTitles(root: string, folders: readonly string[] = FOLDERS): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"))
      .toSorted()
      .flatMap((file) => ofFile(join(root, folder, file)).map((problem) => `${folder}/${file}:${problem}`)),
  );
}

function ofFile(file: string): string[] {
  const titles = titlesOf(file);
  const seen = new Set<string>();
  return titles.flatMap(({ full, own, isTop, line }) => {
    // Two tables of one subject may have the same words before their rows.
    const isTwice = seen.has(full) && !ROWS.test(full);
    seen.add(full);
    const why = isTwice ? "is the title of another test of this file" : weakness({ full, own, isTop });
    return why === undefined ? [] : [`${line}: "${full}" ${why}`];
  });
}

/** What a title lacks. */
export function weakness({ full, own, isTop }: Omit<Title, "line">): string | undefined {
  const words = full.split(/\s+/).filter((word) => word !== "");
  if (JOINING.test(own)) return "begins with a conjunction; say what it would continue from";
  if (REFERRING.test(full)) return "begins with a word that refers to something else; begin with the subject";
  if (isTop && SUBJECTLESS.test(full)) return "begins with its verb; begin with the subject, or put it into a describe";
  if (NUMBERED.test(own)) return "has the number of a list that is not here; leave it out";
  if (ROWS.test(full)) return undefined;
  if (words.length < LEAST_WORDS) return `has fewer than ${LEAST_WORDS} words; say subject, condition and result`;
  return VERB.test(full) ? undefined : "has no verb; say what happens";
}

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value;

/** The titles of a file's tests; those that are skipped have reasons in place of titles. */
function titlesOf(file: string): Title[] {
  const { text: source, result } = parsedFile(file);
  const found: Title[] = [];
  const visit = (value: unknown, around: readonly string[]): void => {
    if (Array.isArray(value)) for (const one of value) visit(one, around);
    if (!isNode(value)) return;
    const call = value.type === "CallExpression" ? titled(value, source) : undefined;
    if (call?.name === "describe") {
      for (const argument of call.rest) visit(argument, [...around, call.title]);
      return;
    }
    if (call !== undefined && !call.isSkipped)
      found.push({
        full: [...around, call.title].join(" "),
        own: call.title,
        isTop: around.length === 0,
        line: source.slice(0, value.start).split("\n").length,
      });
    for (const child of Object.values(value)) if (typeof child === "object") visit(child, around);
  };
  visit(result.program, []);
  return found;
}

interface Call {
  readonly name: string;
  readonly title: string;
  readonly isSkipped: boolean;
  readonly rest: readonly unknown[];
}

/** A call of test, it or describe, or of one of their forms (`test.each(…)(…)`), with a title that is a text. */
function titled(call: Node, source: string): Call | undefined {
  const [first, ...rest] = call["arguments"] as readonly unknown[];
  if (!isNode(first)) return undefined;
  let callee = call["callee"];
  let isSkipped = false;
  while (isNode(callee) && callee.type !== "Identifier") {
    if (callee.type === "MemberExpression") {
      const form = isNode(callee["property"]) ? String(callee["property"]["name"]) : "";
      if (!FORMS.includes(form)) return undefined;
      isSkipped ||= form === "skip";
      callee = callee["object"];
    } else if (callee.type === "CallExpression") callee = callee["callee"];
    else return undefined;
  }
  const name = isNode(callee) ? String(callee["name"]) : "";
  if (!["test", "it", "describe"].includes(name)) return undefined;
  const isText = first.type === "TemplateLiteral" || (first.type === "Literal" && typeof first["value"] === "string");
  return isText ? { name, title: source.slice(first.start + 1, first.end - 1), isSkipped, rest } : undefined;
}
