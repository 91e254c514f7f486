import { expect } from "vitest";
import type { CaseGroup, Json } from "../interface.ts";
import { widget, widgets } from "./custom-resource.ts";
import { at, configMap, made } from "./shorthands.ts";

const types = (events: readonly Json[]): unknown[] => events.map((e) => e["type"]);
const named = (events: readonly Json[]): unknown[] =>
  events.map((e) => [e["type"], at(e, "object", "metadata", "name")]);

export const watching: CaseGroup = {
  title: "watching",
  cases: [
    {
      name: "a watch from a list's resourceVersion returns each change once, in order",
      async run({ api, core }) {
        const { body } = await api.get(core("configmaps"));
        const from = String(at(body, "metadata", "resourceVersion"));
        const watch = await api.watch(`${core("configmaps")}?watch=1&resourceVersion=${from}`);
        await made(api.post(core("configmaps"), configMap("a")));
        await api.patch(core("configmaps", "a"), "merge", { data: { a: "1" } });
        await api.delete(core("configmaps", "a"));
        const events = await watch.take(3);
        watch.close();
        expect(types(events)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
        const revisions = events.map((e) => Number(at(e, "object", "metadata", "resourceVersion")));
        expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
        expect(new Set(revisions).size).toBe(3);
        expect(at(events, 1, "object")).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", data: { a: "1" } });
      },
    },
    {
      name: "a watch resumes where another one was",
      async run({ api, core }) {
        const first = await made(api.post(core("configmaps"), configMap("a")));
        await made(api.post(core("configmaps"), configMap("b")));
        const from = String(at(first, "metadata", "resourceVersion"));
        const watch = await api.watch(`${core("configmaps")}?watch=1&resourceVersion=${from}`);
        expect(named(await watch.take(1))).toEqual([["ADDED", "b"]]);
        watch.close();
      },
    },
    {
      name: "a watch without a revision begins with what is",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a")));
        const watch = await api.watch(`${core("configmaps")}?watch=1`);
        expect(named(await watch.take(1))).toEqual([["ADDED", "a"]]);
        watch.close();
      },
    },
    {
      name: "an object that a selector lets in or out is added or deleted",
      async run({ api, core }) {
        const made1 = await made(api.post(core("configmaps"), configMap("a", { metadata: { labels: { on: "no" } } })));
        const from = String(at(made1, "metadata", "resourceVersion"));
        const watch = await api.watch(`${core("configmaps")}?watch=1&labelSelector=on%3Dyes&resourceVersion=${from}`);
        for (let round = 0; round < 2; round += 1) {
          await api.patch(core("configmaps", "a"), "merge", { metadata: { labels: { on: "yes" } } });
          await api.patch(core("configmaps", "a"), "merge", { metadata: { labels: { on: "no" } } });
        }
        expect(types(await watch.take(4))).toEqual(["ADDED", "DELETED", "ADDED", "DELETED"]);
        watch.close();
      },
    },
    {
      name: "one object is watched by its name",
      async run({ api, core }) {
        const body = await made(api.post(core("configmaps"), configMap("a")));
        const from = String(at(body, "metadata", "resourceVersion"));
        const watch = await api.watch(
          `${core("configmaps")}?watch=1&fieldSelector=metadata.name%3Da&resourceVersion=${from}`,
        );
        await made(api.post(core("configmaps"), configMap("b")));
        await api.patch(core("configmaps", "a"), "merge", { data: { x: "y" } });
        expect(named(await watch.take(1))).toEqual([["MODIFIED", "a"]]);
        watch.close();
      },
    },
    {
      name: "initial events end with a marked bookmark",
      async run(c) {
        await made(c.api.post(widgets(c), widget("a")));
        const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        const watch = await c.api.watch(`${widgets(c)}?${query}`);
        const [added, mark] = await watch.take(2);
        watch.close();
        expect(added).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
        expect(mark).toMatchObject({
          type: "BOOKMARK",
          object: { kind: "Widget", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
        });
      },
    },
    {
      name: "initial events without resourceVersionMatch are refused",
      async run({ api, core }) {
        const answer = await api.get(`${core("configmaps")}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true`);
        expect({ code: answer.code, reason: answer.body["reason"] }).toEqual({ code: 422, reason: "Invalid" });
      },
    },
    {
      name: "a watch ends after timeoutSeconds",
      async run({ api, core }) {
        const watch = await api.watch(`${core("configmaps")}?watch=1&timeoutSeconds=1&resourceVersion=0`);
        await watch.rest();
      },
    },
    {
      name: "a watch of an unknown kind is 404",
      async run({ api }) {
        expect((await api.get("/api/v1/nothings?watch=1")).code).toBe(404);
      },
    },
  ],
};
