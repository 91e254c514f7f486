import type { AddonSetStatus } from "@causeway/api";
import { describe, expect, test } from "vitest";
import { addon, fight, idOf, NOW, object, observed, stale } from "../testing/observed-set.ts";
import type { Observed, ObservedAddon } from "./gather.ts";
import { finalizer, plan } from "./plan.ts";

const entriesOf = (given: Observed): NonNullable<AddonSetStatus["addons"]> => plan(given, NOW).status.addons ?? [];
const entryOf = (given: Observed) => entriesOf(given)[0];
const conditionsOf = ({ conditions = [] }: AddonSetStatus) =>
  conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`.trim());
const A = "ConfigMap kube-system/a";

describe("the entry of an add-on", () => {
  const drift = { ...fight, changes: [{ path: ["data", "x"] }, { path: ["data", "y"] }] as never };
  const annotated = { "addons.causeway.dev/recreate": "true" };
  test.each<[string, ObservedAddon, object]>([
    ["is applied", addon("dns", [object()]), { state: "Applied" }],
    [
      "is of an unknown kind",
      addon("dns", [object({ state: "unserved" })]),
      { state: "Applying", message: `${A} is of a kind that the cluster does not serve` },
    ],
    [
      "is not read",
      addon("dns", [object({ state: "unread" })]),
      { state: "Applying", message: `${A} is not read yet` },
    ],
    [
      "is to be created",
      addon("dns", [object({ state: "missing" })]),
      { state: "Applying", message: `${A} is to be created` },
    ],
    [
      "is being deleted",
      addon("dns", [object({ state: "ending" })]),
      { state: "Applying", message: `${A} is being deleted` },
    ],
    [
      "is to be applied",
      addon("dns", [object({ state: "unapplied" })]),
      { state: "Applying", message: `${A} is to be applied` },
    ],
    ["was changed", addon("dns", [object({ state: "changed" })]), { state: "Applying", message: `${A} was changed` }],
    [
      "is refused",
      addon("dns", [], { refusal: { code: "X", message: "no YAML" } }),
      { state: "Failed", code: "X", message: "no YAML" },
    ],
    [
      "is another set's",
      addon("dns", [object({ state: "foreign", set: "other" })]),
      { state: "Failed", message: `${A} belongs to AddonSet other (ADDON_OBJECT_OF_ANOTHER_SET)` },
    ],
    [
      "cannot be changed",
      addon("dns", [object({ state: "unapplied", immutable: "selector" })]),
      {
        state: "Failed",
        message: `${A} cannot be changed as declared: selector; undo the change, or declare the object with the annotation addons.causeway.dev/recreate: "true" to have it deleted and created again (ADDON_OBJECT_IMMUTABLE)`,
      },
    ],
    [
      "can never be changed",
      addon("dns", [object({ state: "unapplied", kind: "Namespace", immutable: "x", annotations: annotated })]),
      {
        state: "Failed",
        message:
          "Namespace kube-system/a cannot be changed as declared: x; objects of this kind are never deleted: undo the change (ADDON_OBJECT_IMMUTABLE)",
      },
    ],
    [
      "is contested",
      addon("dns", [object({ state: "changed", drift: { ...drift, managers: ["kubectl", "helm"] } })]),
      {
        state: "Applying",
        code: "ADDON_CONTESTED",
        message: `${A} is changed by kubectl and helm again and again (data.x, data.y) and is restored less and less often (ADDON_CONTESTED)`,
      },
    ],
    [
      "is contested by a writer without a name",
      addon("dns", [object({ state: "changed", drift: { ...drift, managers: [], changes: [] } })]),
      {
        message: `${A} is changed by another writer again and again and is restored less and less often (ADDON_CONTESTED)`,
      },
    ],
    ["does not work", addon("dns", [object({ problem: "0 of 2" })]), { state: "Unhealthy", message: `${A}: 0 of 2` }],
    [
      "fails a proof",
      addon("dns", [object()], { probes: { problems: ["p"], due: 1 } }),
      { state: "Unhealthy", message: "p" },
    ],
  ])("of which an object %s", (_title, of, expected) => expect(entryOf(observed([of]))).toMatchObject(expected));

  test("has a message and a code only where there is something to say", () => {
    expect(entryOf(observed([addon("dns", [object()])]))).toStrictEqual({
      name: "dns",
      state: "Applied",
      digest: "digest-dns",
      objects: [idOf("a")],
    });
  });

  test("waits for lower waves with what is new, and not with what it had before", () => {
    const ill = addon("cni", [object({ problem: "down" })]);
    const of = (known: boolean) => addon("dns", [object({ name: "b", state: "missing", known })], { wave: 1 });
    const message = `waits for add-on cni of wave 0: ${A}: down`;
    expect(entriesOf(observed([of(false), ill]))[1]).toMatchObject({ state: "Waiting", message });
    expect(entriesOf(observed([of(true), ill]))[1]).toMatchObject({ state: "Applying" });
    const same = addon("dns", [object({ name: "b", state: "missing" })]);
    expect(entriesOf(observed([same, ill]))[1]).toMatchObject({ state: "Applying" });
  });

  test("is in the order of waves, and of names in a wave", () => {
    const of = (name: string, wave: number) => addon(name, [], { wave });
    const names = entriesOf(observed([of("c", 0), of("b", 1), of("d", 0), of("a", 2)])).map(({ name }) => name);
    expect(names).toEqual(["c", "d", "b", "a"]);
    expect(entriesOf(observed([of("d", 0), of("c", 0)])).map(({ name }) => name)).toEqual(["c", "d"]);
  });
});

describe("the record of an add-on", () => {
  const digests = (given: Observed) => ({ ...given.set.status?.addons?.[0], digest: "before" });
  const known = (of: ObservedAddon, recorded: readonly string[] = ["a"]): Observed => {
    const given = observed([of], { recorded: { dns: recorded } });
    return { ...given, set: { ...given.set, status: { ...given.set.status, addons: [digests(given)] } } as never };
  };
  test.each<[string, ObservedAddon, string]>([
    ["is new once all is applied", addon("dns", [object()]), "digest-dns"],
    [
      "remains while something is to be applied",
      addon("dns", [object(), object({ name: "b", state: "missing" })]),
      "before",
    ],
    ["remains while it is refused", addon("dns", [], { refusal: { code: "X", message: "" } }), "before"],
  ])("of its content %s", (_title, of, digest) => expect(entryOf(known(of))?.digest).toBe(digest));

  test.each<[string, ObservedAddon, readonly string[]]>([
    ["what it declares, once all is applied", addon("dns", [object()]), ["a"]],
    ["what could not be deleted yet", addon("dns", [object()], { stale: [stale("old")] }), ["a", "old"]],
    [
      "what is not read yet: it may be there",
      addon("dns", [object()], { stale: [stale("old", "ConfigMap", { isUnread: true })] }),
      ["a", "old"],
    ],
    ["what it had before, until all is applied", addon("dns", [object({ state: "missing" })]), ["a", "old", "older"]],
    [
      "what it had before, while it is refused",
      addon("dns", [], { refusal: { code: "X", message: "" } }),
      ["a", "old", "older"],
    ],
  ])("of its objects is %s", (_title, of, names) => {
    expect(entryOf(known(of, ["a", "old", "older"]))?.objects?.map(({ name }) => name)).toEqual(names);
  });

  test("of objects that are never deleted is nothing, once they are not declared", () => {
    const of = addon("dns", [object()], { stale: [stale("old", "Namespace")] });
    const given = known(of);
    const objects = [idOf("a"), idOf("old", "Namespace")];
    const addons = [{ name: "dns", state: "Applied", objects }];
    const set = { ...given.set, status: { addons } } as never;
    expect(entryOf({ ...given, set })?.objects).toEqual([idOf("a")]);
  });

  test("of a cluster-wide object has no namespace", () => {
    const one = object();
    const declared = { ...one.declared, id: { ...one.declared.id, namespace: "" } };
    expect(entryOf(observed([addon("dns", [{ ...one, declared }])]))?.objects?.[0]).not.toHaveProperty("namespace");
  });

  test("of an add-on that was removed is what is still there", () => {
    const removed = (...left: ReturnType<typeof stale>[]) =>
      entriesOf(observed([], { recorded: { old: ["a", "b"] } }, { removed: [{ name: "old", stale: left }] }));
    expect(removed(stale("b"))).toEqual([
      { name: "old", state: "Applying", message: "is being removed", objects: [idOf("b")] },
    ]);
    expect(removed()).toEqual([]);
    expect(removed(stale("b", "Namespace"))).toEqual([]);
  });
});

describe("the conditions of an AddonSet", () => {
  test("say what is not applied, and what does not work", () => {
    const given = observed([
      addon("a", [object({ problem: "down" })]),
      addon("b", [object({ state: "missing" })]),
      addon("c", [object({ state: "ending" })]),
      addon("d", [object({ name: "d" })]),
    ]);
    const { status } = plan(given, NOW);
    expect(conditionsOf(status)).toEqual([
      "Paused False NotPaused",
      `Applied False Applying b: ${A} is to be created; c: ${A} is being deleted`,
      `Healthy False Unhealthy a: ${A}: down; b: ${A} is to be created; c: ${A} is being deleted`,
    ]);
    expect(status.failing).toEqual(["a", "b", "c"]);
  });

  test("say so of a set that is as declared", () => {
    const given = observed([addon("dns", [object()])], { metadata: { generation: 4 } });
    const { status, wait } = plan(given, NOW);
    expect(conditionsOf(status)).toEqual(["Paused False NotPaused", "Applied True Applied", "Healthy True Healthy"]);
    expect(status).toMatchObject({ observedGeneration: 4, version: "v1.34.4" });
    expect(status).not.toHaveProperty("failing");
    expect(wait).toBeUndefined();
    const unknown = plan(observed([], {}, { version: undefined }), NOW).status;
    expect(unknown).not.toHaveProperty("version");
    expect(unknown).not.toHaveProperty("observedGeneration");
  });

  const paused = { metadata: { annotations: { "cluster.x-k8s.io/paused": "" } } };
  const resting = { metadata: { name: "blue", uid: "c" }, spec: { paused: true } } as never;
  test.each<[string, Observed]>([
    ["set", observed([addon("dns", [object({ state: "missing" })])], paused)],
    ["cluster", observed([addon("dns", [object({ state: "missing" })])], {}, { cluster: resting })],
  ])("say that the %s is paused, and nothing is done", (_title, given) => {
    const { steps, status } = plan(given, NOW);
    expect([steps, conditionsOf(status)]).toEqual([[], ["Paused True Paused"]]);
    expect(status.addons).toEqual(given.set.status?.addons);
  });

  const refusal = { code: "ADDON_OBJECT_TWICE", message: "a is declared twice" };
  test.each<[string, string, Partial<Observed>]>([
    ["WaitingForCluster", "there is no Cluster blue", { cluster: undefined }],
    ["WaitingForConnection", "the workload cluster is not connected", { session: undefined }],
    ["ADDON_OBJECT_TWICE", "a is declared twice", { refusal }],
  ])("say %s: %s", (reason, message, more) => {
    const { steps, status, wait } = plan(observed([addon("dns", [object({ state: "missing" })])], {}, more), NOW);
    expect(steps).toEqual([]);
    expect(conditionsOf(status)).toEqual([
      "Paused False NotPaused",
      `Applied False ${reason} ${message}`,
      `Healthy Unknown ${reason} ${message}`,
    ]);
    expect(wait).toEqual({ for: message });
  });
});

describe("an AddonSet is read again", () => {
  const due = (of: ObservedAddon, more: Partial<Observed> = {}) => plan(observed([of], {}, more), NOW).wait?.until;
  const unread = [stale("x", "ConfigMap", { isUnread: true })];
  test.each<[string, number | undefined, ObservedAddon, Partial<Observed>?]>([
    ["never where all is as declared", undefined, addon("dns", [object()])],
    ["after a second where a kind is not served", NOW + 1_000, addon("dns", [object({ state: "unserved" })])],
    ["after a second where a kind is not read", NOW + 1_000, addon("dns", [object({ state: "unread" })])],
    ["after a second where what is not declared is not read", NOW + 1_000, addon("dns", [], { stale: unread })],
    [
      "after a second where what was removed is not read",
      NOW + 1_000,
      addon("dns", []),
      { removed: [{ name: "old", stale: unread }] },
    ],
    ["when pods may say more of what does not work", NOW + 10_000, addon("dns", [object({ problem: "down" })])],
    ["when a proof is due", NOW + 7, addon("dns", [object()], { probes: { problems: [], due: NOW + 7 } })],
    [
      "when a contested object may be restored",
      NOW + 64_000,
      addon("dns", [object({ state: "changed", drift: fight })]),
    ],
    ["not for one that is as declared again", undefined, addon("dns", [object({ drift: fight })])],
    [
      "not for one that may be restored now",
      undefined,
      addon("dns", [object({ state: "changed", drift: { ...fight, at: NOW - 64_000 } })]),
    ],
  ])("%s", (_title, expected, of, more) => expect(due(of, more)).toBe(expected));

  test("at the first of several times, and says why", () => {
    const given = observed([addon("dns", [object({ state: "unread" }), object({ name: "b", problem: "down" })])]);
    expect(plan(given, NOW).wait).toEqual({ for: "add-ons to work", until: NOW + 1_000 });
  });

  test("restores a contested object when its time has come", () => {
    const of = object({ state: "changed", drift: { ...fight, at: NOW - 64_000 } });
    expect(plan(observed([addon("dns", [of])]), NOW).steps.map(({ type }) => type)).toEqual(["restore"]);
  });
});

describe("the events of an AddonSet", () => {
  const events = (of: ObservedAddon, before: string) => plan(observed([of], { states: { dns: before } }), NOW).events;
  const well = addon("dns", [object()]);
  const ill = addon("dns", [object({ problem: "down" })]);
  const refused = addon("dns", [], { refusal: { code: "X", message: "no YAML" } });
  test.each<[string, ObservedAddon, string, readonly object[]]>([
    [
      "say that it does not work",
      ill,
      "Applied",
      [{ type: "Warning", reason: "AddonUnhealthy", message: `dns: ${A}: down` }],
    ],
    ["say that it failed", refused, "Applied", [{ type: "Warning", reason: "AddonFailed", message: "dns: no YAML" }]],
    [
      "say that it works again",
      well,
      "Failed",
      [{ type: "Normal", reason: "AddonHealthy", message: "dns works again" }],
    ],
    ["do not say that it works at first", well, "Applying", []],
    ["do not say that it works after it waited", well, "Waiting", []],
    ["do not say that it is applied", addon("dns", [object({ state: "missing" })]), "Unhealthy", []],
    ["say nothing twice", refused, "Failed", []],
  ])("%s", (_title, of, before, expected) => expect(events(of, before)).toEqual(expected));

  test("do not say that a new add-on works", () => {
    expect(plan(observed([well], { recorded: {} }), NOW).events).toEqual([]);
  });
});

describe("the owner and the finalizer of an AddonSet", () => {
  const of = (metadata: object, deletionPolicy: "Keep" | "Delete") =>
    plan(observed([], { metadata, spec: { deletionPolicy } }), NOW).steps.map(({ type }) => type);
  test.each<[string, object, "Keep" | "Delete", readonly string[]]>([
    ["it becomes its Cluster's", { ownerReferences: [] }, "Keep", ["adopt"]],
    ["it becomes this Cluster's", { ownerReferences: [{ uid: "earlier" }] }, "Keep", ["adopt"]],
    ["it has a finalizer where its objects are deleted with it", {}, "Delete", ["add-finalizer"]],
    ["it has one once", { finalizers: [finalizer] }, "Delete", []],
    ["it has none any more where they are kept", { finalizers: [finalizer] }, "Keep", ["remove-finalizer"]],
    ["it has none where they are kept", {}, "Keep", []],
  ])("%s", (_title, metadata, policy, expected) => expect(of(metadata, policy)).toEqual(expected));

  test("without a Cluster nothing is adopted", () => {
    expect(plan(observed([], { metadata: { ownerReferences: [] } }, { cluster: undefined }), NOW).steps).toEqual([]);
  });
});

describe("an AddonSet that is being deleted", () => {
  const metadata = { deletionTimestamp: "2026-03-01T11:00:00Z", finalizers: [finalizer] };
  const given = { metadata, spec: { deletionPolicy: "Delete" as const } };
  test.each<[string, Observed, object | undefined]>([
    ["is not paused, and keeps its entries", observed([addon("dns", [object()])], given), undefined],
    [
      "waits for its cluster",
      observed([addon("dns", [object()])], given, { session: undefined }),
      { for: "the workload cluster to be connected" },
    ],
    [
      "waits for its objects to be read",
      observed([addon("dns", [object({ state: "unread" })])], given),
      { for: "the objects of the add-ons to be read", until: NOW + 1_000 },
    ],
  ])("%s", (_title, of, wait) => {
    const planned = plan(of, NOW);
    expect(planned.wait).toEqual(wait);
    expect(conditionsOf(planned.status).filter((each) => !each.startsWith("Applied"))).toEqual([
      "Paused False NotPaused",
    ]);
    expect(planned.status.addons).toEqual(of.set.status?.addons);
  });

  test("says of which kinds it waits for a list, and what leaves the objects", () => {
    const unread = ["Gadget", "ConfigMap", "Gadget", "CustomResourceDefinition"].map((kind, at) =>
      object({ name: `o${at}`, kind, state: "unread" }),
    );
    const applied = plan(observed([addon("dns", unread)], given), NOW).status.conditions?.find(
      ({ type }) => type === "Applied",
    );
    expect(applied).toMatchObject({
      status: "False",
      reason: "Deleting",
      message:
        "objects of kind ConfigMap, Gadget are not listed yet, and are deleted then; spec.deletionPolicy Keep leaves them",
    });
  });
});
