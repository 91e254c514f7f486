import { expect } from "vitest";
import type { CaseGroup, Context } from "../interface.ts";
import { widget, widgets } from "./custom-resource.ts";
import { at, made, names, refused } from "./shorthands.ts";

/** The first revision there is: kube-apiserver's cache of a kind remembers what came after the kind alone. */
const FIRST = "1";
const TIMEOUT = 30_000;

function tokenOf(revision: number, start: string): string {
  const value = { v: "meta.k8s.io/v1", rv: revision, start };
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

async function fill(c: Context): Promise<void> {
  for (const name of ["a", "b"]) await made(c.api.post(widgets(c), widget(name)));
  await c.target.compact();
}

export const compaction: CaseGroup = {
  title: "compacted revisions",
  cases: [
    {
      name: "a watch from a compacted revision gets an ERROR event with 410 Expired, and ends",
      timeout: TIMEOUT,
      async run(c) {
        await fill(c);
        const watch = await c.api.watch(`${widgets(c)}?watch=1&resourceVersion=${FIRST}`);
        const [event] = await watch.rest();
        expect(event).toMatchObject({
          type: "ERROR",
          object: { kind: "Status", status: "Failure", code: 410, reason: "Expired" },
        });
        expect(at(event, "object", "message")).toMatch(/^too old resource version: 1 \(\d+\)$/);
      },
    },
    {
      name: "a list at a revision that is forgotten is 410",
      timeout: TIMEOUT,
      async run(c) {
        await fill(c);
        const answer = await c.api.get(`${widgets(c)}?resourceVersion=${FIRST}&resourceVersionMatch=Exact`);
        refused(answer, 410, "Expired", "The resourceVersion for the provided list is too old.");
      },
    },
    {
      name: "a page of a list that is forgotten is 410, with a way to continue",
      timeout: TIMEOUT,
      async run(c) {
        await fill(c);
        const page = await c.api.get(`${widgets(c)}?limit=1`);
        const { start } = JSON.parse(
          Buffer.from(String(at(page.body, "metadata", "continue")), "base64url").toString(),
        ) as { start: string };
        const old = await c.api.get(`${widgets(c)}?continue=${tokenOf(Number(FIRST), start)}`);
        expect(old).toMatchObject({ code: 410, body: { reason: "Expired", status: "Failure" } });
        expect(old.body["message"]).toMatch(
          /^The provided continue parameter is too old to display a consistent list result/,
        );
        const token = String(at(old.body, "metadata", "continue"));
        const rest = await c.api.get(`${widgets(c)}?continue=${token}`);
        expect(names(rest)).toEqual(["b"]);
      },
    },
    {
      name: "lists and watches from a current revision are served after compaction",
      timeout: TIMEOUT,
      async run(c) {
        await fill(c);
        const list = await c.api.get(widgets(c));
        expect(names(list)).toEqual(["a", "b"]);
        const from = String(at(list.body, "metadata", "resourceVersion"));
        const watch = await c.api.watch(`${widgets(c)}?watch=1&resourceVersion=${from}`);
        await made(c.api.post(widgets(c), widget("c")));
        const [event] = await watch.take(1);
        watch.close();
        expect(event).toMatchObject({ type: "ADDED", object: { metadata: { name: "c" } } });
      },
    },
  ],
};
