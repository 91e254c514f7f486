import { expect } from "vitest";
import type { Answer, CaseGroup, Context, ContractCase, Json, Raw } from "../interface.ts";
import { at, made, names } from "./shorthands.ts";

/*
 * Every resourceVersion with every resourceVersionMatch: what lists and watches make of them. Four Secrets, s0 to s3,
 * are there; OLD is the revision before s3, NOW the newest.
 */

/**
 * [resourceVersion, resourceVersionMatch, [alone, with limit 2, with a continue of OLD, with a continue that is none]]
 */
const LISTS: readonly (readonly [string | undefined, string | undefined, readonly string[]])[] = [
  [undefined, undefined, ["all", "page", "rest", "unreadable token"]],
  [undefined, "Exact", ["no version", "no version", "no version+continue", "no version+continue"]],
  [undefined, "NotOlderThan", ["no version", "no version", "no version+continue", "no version+continue"]],
  [
    undefined,
    "Bogus",
    [
      "no version+unsupported",
      "no version+unsupported",
      "no version+continue+unsupported",
      "no version+continue+unsupported",
    ],
  ],
  ["0", undefined, ["all", "all", "rest", "unreadable token"]],
  ["0", "Exact", ["zero", "zero", "continue+zero", "continue+zero"]],
  ["0", "NotOlderThan", ["all", "all", "continue", "continue"]],
  ["0", "Bogus", ["unsupported", "unsupported", "continue+unsupported", "continue+unsupported"]],
  ["OLD", undefined, ["all", "old page", "two revisions", "unreadable token"]],
  ["OLD", "Exact", ["old", "old page", "continue", "continue"]],
  ["OLD", "NotOlderThan", ["all", "page", "continue", "continue"]],
  ["OLD", "Bogus", ["unsupported", "unsupported", "continue+unsupported", "continue+unsupported"]],
  ["NOW", undefined, ["all", "page", "two revisions", "unreadable token"]],
  ["NOW", "Exact", ["all", "page", "continue", "continue"]],
  ["NOW", "NotOlderThan", ["all", "page", "continue", "continue"]],
  ["NOW", "Bogus", ["unsupported", "unsupported", "continue+unsupported", "continue+unsupported"]],
  ["99999999", undefined, ["too large", "too large", "two revisions", "unreadable token"]],
  ["99999999", "Exact", ["too large", "too large", "continue", "continue"]],
  ["99999999", "NotOlderThan", ["too large", "too large", "continue", "continue"]],
  ["99999999", "Bogus", ["unsupported", "unsupported", "continue+unsupported", "continue+unsupported"]],
  ["abc", undefined, ["no revision", "no revision", "two revisions", "unreadable token"]],
  ["abc", "Exact", ["no revision", "no revision", "continue", "continue"]],
  ["abc", "NotOlderThan", ["no revision", "no revision", "continue", "continue"]],
  ["abc", "Bogus", ["unsupported", "unsupported", "continue+unsupported", "continue+unsupported"]],
  ["-1", undefined, ["no revision", "no revision", "two revisions", "unreadable token"]],
  ["-1", "Exact", ["no revision", "no revision", "continue", "continue"]],
  ["-1", "NotOlderThan", ["no revision", "no revision", "continue", "continue"]],
  ["-1", "Bogus", ["unsupported", "unsupported", "continue+unsupported", "continue+unsupported"]],
];

/**
 * [resourceVersion, resourceVersionMatch, [sendInitialEvents not given, true, false; each without and with bookmarks]]
 */
const WATCHES: readonly (readonly [string | undefined, string | undefined, readonly string[]])[] = [
  [undefined, undefined, ["all", "all, marked", "initial", "initial", "initial", "initial"]],
  [
    undefined,
    "Exact",
    [
      "watch+unsupported",
      "watch+unsupported",
      "initial+unsupported",
      "initial+unsupported",
      "initial+unsupported",
      "initial+unsupported",
    ],
  ],
  [
    undefined,
    "Bogus",
    [
      "watch+unsupported",
      "watch+unsupported",
      "initial+unsupported",
      "initial+unsupported",
      "initial+unsupported",
      "initial+unsupported",
    ],
  ],
  [undefined, "NotOlderThan", ["watch", "watch", "all", "all, marked", "nothing", "nothing"]],
  ["0", undefined, ["all", "all, marked", "initial", "initial", "initial", "initial"]],
  ["0", "NotOlderThan", ["watch", "watch", "all", "all, marked", "nothing", "nothing"]],
  ["OLD", undefined, ["new", "new", "initial", "initial", "initial", "initial"]],
  ["OLD", "NotOlderThan", ["watch", "watch", "all", "all, marked", "new", "new"]],
  ["NOW", undefined, ["nothing", "nothing", "initial", "initial", "initial", "initial"]],
  ["NOW", "NotOlderThan", ["watch", "watch", "all", "all, marked", "nothing", "nothing"]],
  ["99999999", undefined, ["nothing", "nothing", "initial", "initial", "initial", "initial"]],
  ["99999999", "NotOlderThan", ["watch", "watch", "too large", "too large", "nothing", "nothing"]],
  ["abc", undefined, ["no revision", "no revision", "initial", "initial", "initial", "initial"]],
  ["abc", "NotOlderThan", ["watch", "watch", "no revision", "no revision", "no revision", "no revision"]],
];

const SHOWN: Readonly<Record<string, string>> = {
  all: "s0,s1,s2,s3",
  page: "s0,s1 and more, 2 remain",
  rest: "s1,s2 at OLD",
  "old page": "s0,s1 and more, 1 remain at OLD",
  old: "s0,s1,s2 at OLD",
  "unreadable token": "400 invalid continue token: continue key is not valid",
  "two revisions": "400 specifying resource version is not allowed when using continue",
  "no revision": "invalid syntax",
  "too large": "Too large resource version",
};

const CAUSES: Readonly<Record<string, string>> = {
  "no version": "resourceVersionMatch is forbidden unless resourceVersion is provided",
  continue: "resourceVersionMatch is forbidden when continue is provided",
  zero: 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  watch: "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
  initial: "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
  unsupported: "Unsupported value",
};

interface Stage {
  readonly old: string;
  readonly now: string;
  readonly token: string;
}

function secret(name: string): Json {
  return { apiVersion: "v1", kind: "Secret", metadata: { name } };
}

async function staged({ api, core }: Context): Promise<Stage> {
  for (const name of ["s0", "s1", "s2"]) await made(api.post(core("secrets"), secret(name)));
  const first = await api.get(`${core("secrets")}?limit=1`);
  const last = await made(api.post(core("secrets"), secret("s3")));
  const now = String(at(last, "metadata", "resourceVersion"));
  // A list that may be older comes from kube-apiserver's cache, which a busy machine fills later: this one waits for
  // it.
  await api.get(`${core("secrets")}?resourceVersion=${now}&resourceVersionMatch=NotOlderThan`);
  return {
    old: String(at(first.body, "metadata", "resourceVersion")),
    now,
    token: String(at(first.body, "metadata", "continue")),
  };
}

function queryOf(stage: Stage, given: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  const values: Readonly<Record<string, string>> = { OLD: stage.old, NOW: stage.now, TOKEN: stage.token };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, values[value] ?? value);
  return query.toString();
}

/** A refusal in one line: its causes, or its message. */
function refusal({ code, body }: Answer): string {
  const causes = (at(body, "details", "causes") as { message: string }[] | undefined) ?? [];
  return code === 422 ? causes.map((c) => c.message).join("; ") : `${code} ${String(body["message"])}`;
}

function summary(stage: Stage, answer: Answer): string {
  if (answer.code !== 200) return refusal(answer);
  const metadata = answer.body["metadata"] as Json;
  const more = metadata["continue"] === undefined ? "" : ` and more, ${String(metadata["remainingItemCount"])} remain`;
  return `${names(answer).join(",")}${more}${metadata["resourceVersion"] === stage.old ? " at OLD" : ""}`;
}

function expectSummary(shown: string, wanted: string): void {
  const sentence = SHOWN[wanted];
  if (sentence !== undefined) return expect(shown).toContain(sentence);
  const causes = wanted.split("+");
  expect(shown.split("; ")).toHaveLength(causes.length);
  causes.forEach((cause) => expect(shown).toContain(CAUSES[cause]));
}

const said = (version: string | undefined, match: string | undefined): string =>
  `${version === undefined ? "no resourceVersion" : `resourceVersion ${version}`}, ${match ?? "no match"}`;

function listCase([resourceVersion, resourceVersionMatch, wanted]: (typeof LISTS)[number]): ContractCase {
  return {
    name: `a list with ${said(resourceVersion, resourceVersionMatch)} returns its revision or an error`,
    async run(c) {
      const stage = await staged(c);
      const more = [{}, { limit: "2" }, { continue: "TOKEN" }, { continue: "garbage" }];
      for (const [i, extra] of more.entries()) {
        const query = queryOf(stage, { resourceVersion, resourceVersionMatch, ...extra });
        expectSummary(summary(stage, await c.api.get(`${c.core("secrets")}?${query}`)), wanted[i] ?? "");
      }
    },
  };
}

const STREAMS: Readonly<Record<string, readonly string[]>> = {
  all: ["ADDED s0", "ADDED s1", "ADDED s2", "ADDED s3"],
  "all, marked": ["ADDED s0", "ADDED s1", "ADDED s2", "ADDED s3", "BOOKMARK end"],
  new: ["ADDED s3"],
  nothing: [],
};

function eventText(event: Json): string {
  const end = at(event, "object", "metadata", "annotations", "k8s.io/initial-events-end") === "true" ? "end" : "";
  return `${String(event["type"])} ${end || String(at(event, "object", "metadata", "name"))}`;
}

/** The stream from its beginning to a write after it; one that is ahead of its time ends by itself. */
async function streamed(
  api: Raw,
  path: string,
  later: (() => Promise<unknown>) | undefined,
  count: number,
): Promise<string[]> {
  const watch = await api.watch(path);
  try {
    if (!later) return (await watch.rest()).map(eventText);
    const first = await watch.take(count);
    await later();
    return [...first, ...(await watch.take(1))].map(eventText);
  } finally {
    watch.close();
  }
}

function watchCase([resourceVersion, resourceVersionMatch, wanted]: (typeof WATCHES)[number]): ContractCase {
  return {
    name: `a watch with ${said(resourceVersion, resourceVersionMatch)} begins at its revision or fails`,
    async run(c) {
      const stage = await staged(c);
      const isAhead = resourceVersion === "99999999";
      for (const [i, result] of wanted.entries()) {
        const query = queryOf(stage, {
          watch: "1",
          resourceVersion,
          resourceVersionMatch,
          sendInitialEvents: [undefined, "true", "false"][Math.floor(i / 2)],
          allowWatchBookmarks: i % 2 === 1 ? "true" : undefined,
          timeoutSeconds: isAhead ? "1" : "20",
        });
        const path = `${c.core("secrets")}?${query}`;
        const stream = STREAMS[result];
        if (stream === undefined && result === "too large") {
          const watch = await c.api.watch(path);
          const [event] = await watch.take(1);
          watch.close();
          expect(event).toMatchObject({ type: "ERROR", object: { code: 504, reason: "Timeout" } });
        } else if (stream === undefined) expectSummary(refusal(await c.api.get(path)), result);
        else {
          const later = (): Promise<unknown> => made(c.api.post(c.core("secrets"), secret("s4")));
          const events = await streamed(c.api, path, isAhead ? undefined : later, stream.length);
          expect(events).toEqual(isAhead ? stream : [...stream, "ADDED s4"]);
          if (!isAhead) await c.api.delete(c.core("secrets", "s4"));
          if (resourceVersion === "OLD" || resourceVersion === "NOW") break;
        }
      }
    },
  };
}

export const revisions: CaseGroup = {
  title: "resource versions",
  cases: [...LISTS.map(listCase), ...WATCHES.map(watchCase)],
};
