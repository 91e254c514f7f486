import type { AddonSet, Cluster } from "@causeway/api";
import { describe, expect, test } from "vitest";
import { applicationFor } from "../argo/application.ts";
import { argoFinalizer } from "../argo/names.ts";
import type { LeftoverApplication, ObservedApplication, ObservedArgo } from "../argo/observe.ts";
import type { Session } from "../live/session.ts";
import type { Observed, ObservedAddon } from "./gather.ts";
import { finalizer, plan } from "./plan.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const source = (path: string) => ({ repoURL: "https://git.example/apps", path });

interface Given {
  readonly states?: Readonly<Record<string, ObservedApplication["state"]>>;
  readonly health?: string;
  readonly argo?: Partial<ObservedArgo>;
  readonly metadata?: Partial<AddonSet["metadata"]>;
  readonly spec?: Partial<AddonSet["spec"]>;
  readonly rest?: Partial<Observed>;
}

/** A set with one Application for each name, in waves that follow each other. */
function observed({
  states = {},
  health = "Healthy",
  argo = {},
  metadata = {},
  spec = {},
  rest = {},
}: Given): Observed {
  const names = Object.keys(states);
  const set = {
    metadata: {
      name: "base",
      namespace: "team",
      uid: "s",
      ownerReferences: [{ uid: "c" }],
      finalizers: [argoFinalizer],
      ...metadata,
    },
    spec: {
      clusterName: "blue",
      argoCD: { namespace: "argocd" },
      addons: names.map((name, wave) => ({ name, wave, application: source(name) })),
      ...spec,
    },
  } as unknown as AddonSet;
  const addons = names.map((name, wave): ObservedAddon => {
    const application = applicationOf(set, { name, wave, state: states[name] ?? "current", health });
    const base = { name, wave, digest: name, mayChange: [], objects: [], stale: [] };
    return { ...base, application, probes: { problems: [], due: undefined } };
  });
  return {
    set,
    cluster: { metadata: { name: "blue", uid: "c" }, spec: {} } as unknown as Cluster,
    version: "v1.34.4",
    session: {} as Session,
    addons,
    removed: [],
    others: new Set(),
    argo: {
      isUnread: false,
      secret: { wanted: { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }, isCurrent: true },
      applications: new Map(addons.flatMap(({ name, application }) => (application ? [[name, application]] : []))),
      leftovers: [],
      unneeded: [],
      ...argo,
    },
    ...rest,
  };
}

interface ApplicationOf {
  readonly name: string;
  readonly wave: number;
  readonly state: ObservedApplication["state"];
  readonly health: string;
}

function applicationOf(set: AddonSet, { name, wave, state, health }: ApplicationOf): ObservedApplication {
  const wanted = applicationFor(
    { ...set, spec: { ...set.spec, argoCD: { namespace: "argocd" } } },
    { name, wave, application: source(name) },
  );
  if (!wanted) throw new Error("no Application");
  const { source: from, destination } = wanted.spec;
  const status = { sync: { status: "Synced", comparedTo: { source: from, destination } }, health: { status: health } };
  return { wanted, digest: name, state, live: state === "missing" ? undefined : { ...wanted, status } };
}

const leftover = (addon: string, more: Partial<LeftoverApplication> = {}): LeftoverApplication => ({
  key: { namespace: "argocd", name: addon },
  addon,
  wave: 0,
  isEnding: false,
  cascades: false,
  ...more,
});

const stepsOf = (given: Observed): string[] =>
  plan(given, NOW).steps.map((step) => {
    if (step.type === "delete-application") return `${step.type} ${step.key.name}${step.cascade ? " cascading" : ""}`;
    return "addon" in step ? `${step.type} ${step.addon}` : step.type;
  });
const secret = { namespace: "argocd", name: "cluster-blue" };
const deletionTimestamp = "2026-03-01T11:00:00Z";
const closed = { code: "ADDON_ARGO_CD_NAMESPACE", message: "Namespace argocd lacks the label" };

describe("the plan of add-ons that Argo CD applies", () => {
  test.for<[title: string, given: Given, steps: string[]]>([
    ["changes nothing where all is as declared", { states: { a: "current" } }, []],
    [
      "adds a finalizer and the cluster's Secret first",
      {
        states: { a: "missing" },
        metadata: { finalizers: [] },
        argo: { secret: { wanted: { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }, isCurrent: false } },
      },
      ["add-argo-finalizer", "apply-cluster-secret", "apply-application a"],
    ],
    ["restores a changed Application", { states: { a: "changed" } }, ["apply-application a"]],
    ["awaits an Application that is being deleted", { states: { a: "ending" } }, []],
    [
      "holds the next wave back while an add-on is ill",
      { states: { a: "current", b: "missing" }, health: "Degraded" },
      [],
    ],
    [
      "hands the next wave over when the add-ons before it are healthy",
      { states: { a: "current", b: "missing" } },
      ["apply-application b"],
    ],
    [
      "hands nothing over without the consent of the namespace",
      { states: { a: "missing" }, argo: { refusal: closed } },
      [],
    ],
    ["changes nothing before Applications are read", { states: { a: "missing" }, argo: { isUnread: true } }, []],
    [
      "leaves the objects of an add-on that was removed",
      { argo: { leftovers: [leftover("x")], unneeded: [] } },
      ["delete-application x"],
    ],
    [
      "deletes an add-on that was removed with its objects where pruning is wanted",
      { spec: { argoCD: { namespace: "argocd", prune: true } }, argo: { leftovers: [leftover("x")] } },
      ["delete-application x cascading"],
    ],
    [
      "keeps the objects of an add-on that is applied here now in spite of pruning",
      {
        spec: { argoCD: { namespace: "argocd", prune: true }, addons: [{ name: "x", manifests: "" }] },
        argo: { leftovers: [leftover("x")] },
      },
      ["delete-application x"],
    ],
    [
      "removes the Applications of a set that hands nothing over any more",
      { spec: { argoCD: undefined, addons: [] } as never, argo: { leftovers: [leftover("x")], unneeded: [secret] } },
      ["delete-application x"],
    ],
    [
      "removes the Secret after the last Application",
      { spec: { argoCD: undefined, addons: [] } as never, argo: { unneeded: [secret] } },
      ["delete-cluster-secret", "remove-argo-finalizer"],
    ],
  ])("%s", ([, given, steps]) => {
    expect(stepsOf(observed(given))).toEqual(steps);
  });
});

describe("the plan of a deleted AddonSet with Argo CD", () => {
  const metadata = { deletionTimestamp, finalizers: [argoFinalizer] };
  const leftovers = [leftover("a"), leftover("b", { wave: 1 })];
  const ending = [leftover("a", { isEnding: true, cascades: true })];
  test.for<[title: string, given: Given, steps: string[]]>([
    ["deletes the Applications of the last wave first", { metadata, argo: { leftovers } }, ["delete-application b"]],
    [
      "deletes their objects with deletionPolicy Delete",
      { metadata, spec: { deletionPolicy: "Delete" }, argo: { leftovers } },
      ["delete-application b cascading"],
    ],
    [
      "waits for Argo CD to delete the objects",
      { metadata, spec: { deletionPolicy: "Delete" }, argo: { leftovers: ending } },
      [],
    ],
    [
      "ends the wait for Argo CD when the cluster is gone",
      { metadata, spec: { deletionPolicy: "Delete" }, argo: { leftovers: ending }, rest: { cluster: undefined } },
      ["delete-application a"],
    ],
    [
      "deletes the Secret after the last Application",
      { metadata, argo: { unneeded: [secret] } },
      ["delete-cluster-secret", "remove-argo-finalizer"],
    ],
    ["deletes nothing before Applications are read", { metadata, argo: { isUnread: true } }, []],
    [
      "deletes its own objects after the Applications",
      { metadata: { deletionTimestamp, finalizers: [finalizer] }, argo: { unneeded: [] } },
      ["remove-finalizer"],
    ],
  ])("%s", ([, given, steps]) => {
    expect(stepsOf(observed(given))).toEqual(steps);
  });
});

describe("the status of an AddonSet with Argo CD", () => {
  const applied = (given: Given) => {
    const found = plan(observed(given), NOW).status.conditions?.find(({ type }) => type === "Applied");
    return `${found?.status} ${found?.message ?? ""}`.trim();
  };
  test.for<[title: string, given: Given, condition: RegExp]>([
    ["is healthy", { states: { a: "current" } }, /^True/],
    ["may hand nothing over", { states: { a: "missing" }, argo: { refusal: closed } }, /^False a: Namespace argocd/],
    ["waits for a wave", { states: { a: "ending", b: "missing" } }, /b: waits for add-on a of wave 0/],
  ])("reports an AddonSet that %s", ([, given, condition]) => {
    expect(applied(given)).toMatch(condition);
  });

  const entry = (given: Given, at = 0) => plan(observed(given), NOW).status.addons?.[at];
  test.for<[title: string, given: Given, expected: object]>([
    [
      "before Applications are read",
      { states: { a: "missing" }, argo: { isUnread: true } },
      { state: "Applying", message: "Applications are not read yet" },
    ],
    [
      "without Argo CD",
      { states: { a: "missing" }, rest: { argo: undefined } as never },
      { state: "Applying", message: "Applications are not read yet" },
    ],
    [
      "that may not be handed over",
      { states: { a: "missing" }, argo: { refusal: closed } },
      { state: "Failed", ...closed },
    ],
    ["that is new", { states: { a: "missing" } }, { state: "Applying", message: "its Application is to be created" }],
    [
      "that was changed",
      { states: { a: "changed" } },
      { state: "Applying", message: "its Application is to be changed" },
    ],
    [
      "that is being deleted",
      { states: { a: "ending" } },
      { state: "Applying", message: "its Application is being deleted" },
    ],
    ["that works", { states: { a: "current" } }, { state: "Applied", digest: "a" }],
    [
      "that is ill",
      { states: { a: "current" }, health: "Degraded" },
      { state: "Unhealthy", message: "Argo CD: health is Degraded" },
    ],
  ])("has the entry of an add-on %s", ([, given, expected]) => {
    expect(entry(given)).toMatchObject(expected);
  });

  test("has the new content of an add-on only when its Application is as declared", () => {
    expect(entry({ states: { a: "changed" } })).not.toHaveProperty("digest");
  });

  test("waits for lower waves with an add-on that is new, and not with one that it had before", () => {
    const given: Given = { states: { a: "ending", b: "missing" } };
    expect(entry(given, 1)?.state).toBe("Waiting");
    const before = observed(given);
    const status = { addons: [{ name: "b", state: "Applied", digest: "b" }] };
    const { steps, status: now } = plan({ ...before, set: { ...before.set, status } as AddonSet }, NOW);
    expect([steps.map(({ type }) => type), now.addons?.[1]?.state]).toEqual([["apply-application"], "Applying"]);
  });

  test("is ill where a proof of an add-on that Argo CD has applied fails", () => {
    const probed = (health: string) => {
      const given = observed({ states: { a: "current" }, health });
      const addons = given.addons.map((each) => ({ ...each, probes: { problems: ["no answer"], due: NOW } }));
      return plan({ ...given, addons }, NOW).status.addons?.[0];
    };
    expect(probed("Healthy")).toMatchObject({ state: "Unhealthy", message: "no answer" });
    expect(probed("Degraded")).toMatchObject({ message: "Argo CD: health is Degraded" });
  });

  test("that is being deleted is read again while Argo CD has its add-ons", () => {
    const metadata = { deletionTimestamp, finalizers: [argoFinalizer] };
    const wait = { for: "Argo CD to release the add-ons", until: NOW + 10_000 };
    expect(plan(observed({ metadata, argo: { leftovers: [leftover("a")] } }), NOW).wait).toEqual(wait);
  });

  test("is read again soon before Applications are read", () => {
    expect(plan(observed({ states: {}, argo: { isUnread: true } }), NOW).wait?.until).toBe(NOW + 1_000);
  });

  test("is read again later where Argo CD is not installed", () => {
    const { wait } = plan(observed({ states: { a: "missing" }, argo: { refusal: closed } }), NOW);
    expect(wait?.until).toBe(NOW + 10_000);
  });
});
