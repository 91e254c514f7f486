import type { KubeObject } from "@causeway/kubernetes";
import { describe, expect, it } from "vitest";
import { Tables } from "../../wire/tables.ts";
import { BuiltInTypes, NO_FIELDS, trackUpdate, type Typed } from "../index.ts";

const T0 = "2026-01-01T00:00:00Z";
const TYPE = { apiVersion: "v1", kind: "ConfigMap" };
const TYPED: Typed = {
  apiVersion: "v1",
  type: new BuiltInTypes(new Tables()).ofKind("v1", "ConfigMap"),
  reset: NO_FIELDS,
  form: () => undefined,
};
const map = (data: Record<string, string>, metadata: object = {}): KubeObject & { data: Record<string, string> } => ({
  ...TYPE,
  metadata: { name: "m", ...metadata },
  data,
});
const track = (before: KubeObject | undefined, after: KubeObject, manager: string, now = T0): KubeObject =>
  trackUpdate({ ...(before === undefined ? {} : { before }), after, manager, typed: TYPED, time: now });
const owners = (object: KubeObject) => (object.metadata.managedFields ?? []).map((e) => [e.manager, e.fieldsV1]);

describe("tracking an update", () => {
  it("gives the maker all fields, and containers with a dot", () => {
    const made = track(undefined, map({ a: "1" }, { labels: { x: "y" } }), "maker");
    expect(owners(made)).toEqual([
      ["maker", { "f:data": { ".": {}, "f:a": {} }, "f:metadata": { "f:labels": { ".": {}, "f:x": {} } } }],
    ]);
    expect(made.metadata.managedFields?.[0]).toMatchObject({ operation: "Update", apiVersion: "v1", time: T0 });
  });

  it("moves what changed to the one who changed it, and forgets what is gone", () => {
    const made = track(undefined, map({ a: "1", b: "1", c: "1" }), "maker");
    const changed = track(made, { ...made, data: { a: "2", b: "1" } } as KubeObject, "editor");
    expect(owners(changed)).toEqual([
      ["editor", { "f:data": { "f:a": {} } }],
      ["maker", { "f:data": { ".": {}, "f:b": {} } }],
    ]);
  });

  it("keeps an entry as it is when its manager changes nothing", () => {
    const made = track(undefined, map({ a: "1" }), "maker");
    expect(track(made, made, "maker", "2026-02-02T00:00:00Z")).toEqual(made);
    expect(track(made, made, "other")).toEqual(made);
  });

  it("does not lose the owners when a client sends no managedFields, and forgets them when it empties them", () => {
    const made = track(undefined, map({ a: "1" }), "maker");
    expect(owners(track(made, map({ a: "1" }), "other"))).toEqual(owners(made));
    expect(track(made, map({ a: "1" }, { managedFields: [] }), "other").metadata.managedFields).toBeUndefined();
    expect(track(made, map({ a: "1" }, { managedFields: [{}] }), "other").metadata.managedFields).toBeUndefined();
  });

  it("names ten updaters at most; the oldest share one entry and lose nothing", () => {
    let live: KubeObject | undefined;
    const data: Record<string, string> = {};
    for (let i = 0; i < 15; i += 1) {
      data[`k${i}`] = "1";
      live = track(
        live,
        { ...map({ ...data }), ...(live === undefined ? {} : { metadata: live.metadata }) },
        `m${i}`,
        `2026-01-01T00:00:${String(i).padStart(2, "0")}Z`,
      );
    }
    const entries = live?.metadata.managedFields ?? [];
    expect(entries.map((e) => e.manager)).toContain("ancient-changes");
    expect(entries).toHaveLength(10);
    const fields = entries
      .flatMap((e) => Object.keys((e.fieldsV1 as { "f:data": object })["f:data"]))
      .filter((k) => k !== ".");
    expect(fields.toSorted()).toEqual(
      Object.keys(data)
        .map((k) => `f:${k}`)
        .toSorted(),
    );
  });
});
