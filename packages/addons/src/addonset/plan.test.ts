import type { Cluster } from "@causeway/api";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addon, fight, NOW, object, observed, stale } from "../testing/observed-set.ts";
import type { Observed, ObservedAddon, ObservedObject } from "./gather.ts";
import { finalizer, plan } from "./plan.ts";

const stepsOf = (given: Observed): string[] =>
  plan(given, NOW).steps.map((step) => ("name" in step ? `${step.type} ${step.name.split("/").at(-1)}` : step.type));
const consent = { "addons.causeway.dev/recreate": "true" };
describe("the plan of an AddonSet", () => {
  test.each<[title: string, given: Observed, steps: string[]]>([
    ["changes nothing where all is as declared", observed([addon("dns", [object()])]), []],
    ["installs what is missing", observed([addon("dns", [object({ state: "missing" })])]), ["install a"]],
    ["restores what was changed", observed([addon("dns", [object({ state: "changed" })])]), ["restore a"]],
    ["restores what was deleted", observed([addon("dns", [object({ state: "missing", known: true })])]), ["restore a"]],
    [
      "records an object before it is installed",
      observed([addon("dns", [object({ state: "missing" })])], { recorded: {} }),
      ["record", "install a"],
    ],
    [
      "leaves what another writer changes again and again for a while",
      observed([addon("dns", [object({ state: "changed", drift: fight }), object({ name: "b", state: "changed" })])]),
      ["restore b"],
    ],
    [
      "leaves alone what cannot be changed as declared, and continues with the rest",
      observed([
        addon("dns", [object({ state: "unapplied", immutable: "selector" }), object({ name: "b", state: "missing" })]),
      ]),
      ["install b"],
    ],
    [
      "recreates what cannot be changed as declared, with consent",
      observed([addon("dns", [object({ state: "unapplied", immutable: "selector", annotations: consent })])]),
      ["recreate a"],
    ],
    [
      "never recreates a Namespace",
      observed([
        addon("dns", [object({ state: "unapplied", immutable: "x", kind: "Namespace", annotations: consent })]),
      ]),
      ["record"],
    ],
    [
      "recreates what cannot be changed only when lower waves are healthy",
      observed([
        addon("dns", [object({ name: "b", state: "unapplied", known: false, immutable: "x", annotations: consent })], {
          wave: 1,
        }),
        addon("cni", [object({ state: "missing" })]),
      ]),
      ["install a"],
    ],
    [
      "holds back what follows a kind that is not served",
      observed([addon("dns", [object({ state: "unserved" }), object({ name: "b", state: "missing" })])]),
      [],
    ],
    [
      "holds back what follows an object that is not read yet",
      observed([addon("dns", [object({ state: "unread" }), object({ name: "b", state: "missing" })])]),
      [],
    ],
    [
      "holds a higher wave back until the lower one is healthy",
      observed([
        addon("dns", [object({ name: "b", state: "missing" })], { wave: 1 }),
        addon("cni", [object({ state: "missing" })]),
      ]),
      ["install a"],
    ],
    [
      "restores what a higher wave had before at once",
      observed([
        addon("dns", [object({ name: "b", state: "changed" })], { wave: 1 }),
        addon("cni", [object({ state: "missing" })]),
      ]),
      ["install a", "restore b"],
    ],
    [
      "holds the next wave back while one is not healthy",
      observed([
        addon("dns", [object({ name: "b", state: "missing" })], { wave: 1 }),
        addon("cni", [object({ problem: "0 of 2 ready" })]),
      ]),
      [],
    ],
    [
      "deletes what is no longer declared, last first",
      observed([addon("dns", [object()], { stale: [stale("x"), stale("y")] })]),
      ["delete y", "delete x"],
    ],
    [
      "deletes nothing before everything is applied",
      observed([addon("dns", [object({ state: "missing" })], { stale: [stale("x")] })]),
      ["install a"],
    ],
    [
      "deletes nothing where manifests are refused",
      observed([addon("dns", [], { stale: [stale("x")], refusal: { code: "X", message: "is not YAML" } })]),
      [],
    ],
    [
      "never deletes CRDs and namespaces",
      observed([
        addon("dns", [object()], { stale: [stale("x", "CustomResourceDefinition"), stale("y", "Namespace")] }),
      ]),
      [],
    ],
    [
      "deletes the objects of an add-on that was removed",
      observed([], {}, { removed: [{ name: "old", stale: [stale("x")] }] }),
      ["delete x"],
    ],
    [
      "deletes none of them while manifests are refused: the objects may be declared there",
      observed(
        [addon("dns", [], { refusal: { code: "X", message: "is not YAML" } })],
        {},
        { removed: [{ name: "old", stale: [stale("x")] }] },
      ),
      [],
    ],
    [
      "deletes nothing of which it is not known whose it is",
      observed([addon("dns", [object()], { stale: [stale("x", "ConfigMap", { isUnread: true })] })]),
      [],
    ],
    [
      "leaves alone what belongs to another set",
      observed([addon("dns", [object({ state: "foreign", set: "other", known: false })])]),
      [],
    ],
    [
      "does nothing for a set that is paused",
      observed([addon("dns", [object({ state: "missing" })])], {
        metadata: { annotations: { "cluster.x-k8s.io/paused": "" } },
      }),
      [],
    ],
    [
      "adds a finalizer first to a set whose objects go with it",
      observed([addon("dns", [object()])], { spec: { deletionPolicy: "Delete" } }),
      ["add-finalizer"],
    ],
  ])("%s", (_title, given, steps) => {
    expect(stepsOf(given)).toEqual(steps);
  });
});

describe("the plan of an AddonSet that is being deleted", () => {
  const leaving = {
    metadata: { name: "blue", deletionTimestamp: "2026-03-01T11:00:00Z" },
    spec: {},
  } as unknown as Cluster;
  const deleted = { deletionTimestamp: "2026-03-01T11:00:00Z", finalizers: [finalizer] };
  const spec = { deletionPolicy: "Delete" as const };
  const all = ["missing", "ending", "foreign", "unapplied", "changed", "current"] as const;
  test.each<[title: string, given: Observed, steps: string[]]>([
    [
      "deletes what is there and its own",
      observed(
        [
          addon(
            "dns",
            all.map((state) => object({ name: state, state })),
          ),
        ],
        { metadata: deleted, spec },
      ),
      ["delete current", "delete changed", "delete unapplied"],
    ],
    [
      "deletes what add-ons had that were removed",
      observed([], { metadata: deleted, spec }, { removed: [{ name: "old", stale: [stale("x")] }] }),
      ["delete x"],
    ],
    [
      "keeps what is to be kept now, though its finalizer says otherwise",
      observed([addon("dns", [object()])], { metadata: deleted, spec: { deletionPolicy: "Keep" } }),
      ["remove-finalizer"],
    ],
    [
      "leaves a cluster alone that is being deleted",
      observed([addon("dns", [object()])], { metadata: deleted, spec }, { cluster: leaving }),
      ["remove-finalizer"],
    ],
    [
      "waits for what is not read yet",
      observed([addon("dns", [object({ state: "unread" })])], { metadata: deleted, spec }),
      [],
    ],
    [
      "waits for what is not read yet and no longer declared",
      observed([addon("dns", [object()], { stale: [stale("x", "ConfigMap", { isUnread: true })] })], {
        metadata: deleted,
        spec,
      }),
      ["delete a"],
    ],
    [
      "does not wait for kinds of which nothing is deleted",
      observed(
        [
          addon("dns", [object({ state: "unread", kind: "Namespace" })], {
            stale: [stale("x", "CustomResourceDefinition", { isUnread: true })],
          }),
        ],
        { metadata: deleted, spec },
      ),
      ["remove-finalizer"],
    ],
    [
      "waits for what is not read yet of add-ons that were removed",
      observed(
        [],
        { metadata: deleted, spec },
        { removed: [{ name: "old", stale: [stale("x", "ConfigMap", { isUnread: true })] }] },
      ),
      [],
    ],
    [
      "deletes its objects, in the reverse order of waves",
      observed([addon("dns", [object()], { stale: [stale("x")] })], { metadata: deleted, spec }),
      ["delete a", "delete x"],
    ],
    ["ends when nothing is left", observed([], { metadata: deleted, spec }), ["remove-finalizer"]],
    [
      "leaves a cluster alone that is gone",
      observed([addon("dns", [object()])], { metadata: deleted, spec }, { cluster: undefined }),
      ["remove-finalizer"],
    ],
    [
      "waits for a cluster that is not connected",
      observed([addon("dns", [object()])], { metadata: deleted, spec }, { session: undefined }),
      [],
    ],
    [
      "without a finalizer leaves everything",
      observed([addon("dns", [object()])], { metadata: { ...deleted, finalizers: [] } }),
      [],
    ],
  ])("%s", (_title, given, steps) => {
    expect(stepsOf(given)).toEqual(steps);
  });
});

describe("the status of an AddonSet", () => {
  const conditionsOf = (given: Observed) =>
    Object.fromEntries(
      (plan(given, NOW).status.conditions ?? []).map(({ type: of, status, reason }) => [of, `${status} ${reason}`]),
    );
  test.each<[title: string, given: Observed, conditions: object]>([
    ["is healthy", observed([addon("dns", [object()])]), { Applied: "True Applied", Healthy: "True Healthy" }],
    [
      "is ill",
      observed([addon("dns", [object({ problem: "0 of 2 ready" })])]),
      { Applied: "True Applied", Healthy: "False Unhealthy" },
    ],
    [
      "fails a proof",
      observed([addon("dns", [object()], { probes: { problems: ["no answer"], due: NOW } })]),
      { Healthy: "False Unhealthy" },
    ],
    ["fights", observed([addon("dns", [object({ state: "changed", drift: fight })])]), { Applied: "False Applying" }],
    [
      "has no cluster",
      observed([], {}, { cluster: undefined }),
      { Applied: "False WaitingForCluster", Healthy: "Unknown WaitingForCluster" },
    ],
  ])("reports an AddonSet that %s", (_title, given, conditions) => {
    expect(conditionsOf(given)).toMatchObject(conditions);
  });

  test.each<[title: string, given: Observed, code: string | undefined]>([
    ["refused manifests", observed([addon("dns", [], { refusal: { code: "X", message: "is not YAML" } })]), "X"],
    [
      "another set's object",
      observed([addon("dns", [object({ state: "foreign", set: "other", known: false })])]),
      "ADDON_OBJECT_OF_ANOTHER_SET",
    ],
    [
      "an immutable field",
      observed([addon("dns", [object({ state: "unapplied", immutable: "selector" })])]),
      "ADDON_OBJECT_IMMUTABLE",
    ],
    ["another writer", observed([addon("dns", [object({ state: "changed", drift: fight })])]), "ADDON_CONTESTED"],
    ["nothing", observed([addon("dns", [object()])]), undefined],
  ])("has the code of %s in the add-on's entry, and at the end of its message", (_title, given, code) => {
    const [first] = plan(given, NOW).status.addons ?? [];
    expect(first?.code).toBe(code);
    if (code !== undefined && code !== "X") expect(first?.message?.endsWith(` (${code})`)).toBe(true);
  });

  test("comes with one event when an add-on fails, one when it recovers, and none between", () => {
    const ill = addon("dns", [object({ problem: "0 of 2 ready" })]);
    const events = (each: ObservedAddon, before: string) =>
      plan(observed([each], { states: { dns: before } }), NOW).events?.map(({ reason }) => reason);
    expect(events(ill, "Applied")).toEqual(["AddonUnhealthy"]);
    expect(events(ill, "Unhealthy")).toEqual([]);
    expect(events(addon("dns", [object()]), "Unhealthy")).toEqual(["AddonHealthy"]);
  });
});

test("the plan of an AddonSet never both applies and deletes an object, and deletes stale objects only, whatever is found", () => {
  const state = fc.constantFrom<ObservedObject["state"]>(
    "unserved",
    "unread",
    "missing",
    "ending",
    "foreign",
    "unapplied",
    "changed",
    "current",
  );
  const addons = fc.array(
    fc.record({ states: fc.array(state, { maxLength: 4 }), wave: fc.nat(2), stale: fc.nat(2), refused: fc.boolean() }),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(addons, (given) => {
      const made = given.map((each, index) =>
        addon(
          `addon-${index}`,
          each.states.map((is, number) => object({ name: `o-${index}-${number}`, state: is, set: "other" })),
          {
            wave: each.wave,
            stale: Array.from({ length: each.stale }, (_, number) => stale(`s-${index}-${number}`)),
            ...(each.refused ? { refusal: { code: "X", message: "refused" } } : {}),
          },
        ),
      );
      const steps = stepsOf(observed(made));
      expect(new Set(steps.map((step) => step.split(" ")[1])).size).toBe(steps.length);
      for (const step of steps) expect(step).toMatch(/^(install|restore) o-|^delete s-/);
    }),
    { numRuns: 300 },
  );
});
