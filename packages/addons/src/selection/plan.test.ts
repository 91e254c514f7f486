import type { AddonSet } from "@causeway/api";
import { ownerReference } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { Observed } from "./gather.ts";
import { nameFor } from "./names.ts";
import { finalizer, plan } from "./plan.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const addons = [{ name: "dns", manifests: "x" }];

const selecting = (metadata: Partial<AddonSet["metadata"]> = {}): AddonSet =>
  ({
    apiVersion: "addons.causeway.dev/v1alpha1",
    kind: "AddonSet",
    metadata: { namespace: "team", name: "base", uid: "u", generation: 3, finalizers: [finalizer], ...metadata },
    spec: { clusterSelector: { matchLabels: { tier: "gold" } }, addons, deletionPolicy: "Delete" },
  }) as AddonSet;

interface MadeOf {
  readonly conditions?: readonly string[];
  readonly spec?: object;
  readonly deletionTimestamp?: string;
}

function made(cluster: string, { conditions = [], spec = {}, deletionTimestamp }: MadeOf = {}): AddonSet {
  const ownerReferences = [ownerReference(selecting(), { controller: true })];
  return {
    apiVersion: "addons.causeway.dev/v1alpha1",
    kind: "AddonSet",
    metadata: {
      namespace: "team",
      name: nameFor("base", cluster),
      generation: 1,
      ownerReferences,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: { clusterName: cluster, addons, deletionPolicy: "Delete", ...spec },
    status: { conditions: conditions.map((type) => ({ type, status: "True", observedGeneration: 1 })) },
  } as unknown as AddonSet;
}

const observed = (changes: Partial<Observed>): Observed => ({
  set: selecting(),
  clusters: [],
  made: [],
  taken: new Set(),
  ...changes,
});

const stepsOf = (changes: Partial<Observed>): string[] =>
  plan(observed(changes), NOW).steps.map((step) =>
    "set" in step ? `${step.type} ${step.set.metadata.name.split("-")[1]}` : step.type,
  );

describe("an AddonSet of many clusters", () => {
  const gone = "2026-03-01T11:00:00Z";
  test.each<[string, Partial<Observed>, string[]]>([
    ["makes one for each of them", { clusters: ["blue", "red"] }, ["apply blue", "apply red"]],
    ["leaves those alone that are as it says", { clusters: ["blue"], made: [made("blue")] }, []],
    [
      "repairs one that was changed",
      { clusters: ["blue"], made: [made("blue", { spec: { addons: [] } })] },
      ["apply blue"],
    ],
    ["deletes that of a cluster that it does not select any more", { made: [made("blue")] }, ["delete blue"]],
    ["does so once", { made: [made("blue", { deletionTimestamp: gone })] }, []],
    [
      "waits for one that is being deleted before it makes it again",
      { clusters: ["blue"], made: [made("blue", { deletionTimestamp: gone })] },
      [],
    ],
    [
      "does not touch one of that name which is another's",
      { clusters: ["blue", "red"], taken: new Set([nameFor("base", "blue")]) },
      ["apply red"],
    ],
    [
      "has a finalizer first",
      { set: selecting({ finalizers: [] }), clusters: ["blue"] },
      ["add-finalizer", "apply blue"],
    ],
    [
      "deletes all when it is deleted",
      { set: selecting({ deletionTimestamp: gone }), clusters: ["blue"], made: [made("blue")] },
      ["delete blue"],
    ],
    [
      "goes when they are gone",
      { set: selecting({ deletionTimestamp: gone }), clusters: ["blue"] },
      ["remove-finalizer"],
    ],
  ])("%s", (_, changes, steps) => {
    expect(stepsOf(changes)).toEqual(steps);
  });

  test("reports in how many clusters its add-ons are applied and healthy, and names the others", () => {
    const all = [made("blue", { conditions: ["Applied", "Healthy"] }), made("red", { conditions: ["Applied"] })];
    const { status } = plan(observed({ clusters: ["blue", "green", "red"], made: all }), NOW);
    expect(status.clusters).toEqual({ selected: 3, applied: 2, healthy: 1 });
    expect(status.failing).toEqual(["green", "red"]);
    expect(status.conditions).toMatchObject([
      { type: "Applied", status: "False", message: "not in 1 of 3 clusters: green" },
      { type: "Healthy", status: "False", message: "not in 2 of 3 clusters: green, red" },
    ]);
  });

  test("is made as this one says, and owned by it", () => {
    const [step] = plan(observed({ clusters: ["blue"] }), NOW).steps;
    const { status: _, ...expected } = made("blue");
    const { generation: __, ...metadata } = expected.metadata;
    expect(step).toEqual({ type: "apply", set: { ...expected, metadata } });
  });

  test("names five clusters that remain, and counts the others", () => {
    const message = (count: number) => {
      const clusters = ["a", "b", "c", "d", "e", "f", "g"].slice(0, count);
      return plan(observed({ clusters }), NOW).status.conditions?.[0]?.message;
    };
    expect(message(5)).toBe("not in 5 of 5 clusters: a, b, c, d, e");
    expect(message(7)).toBe("not in 7 of 7 clusters: a, b, c, d, e and 2 more");
  });

  test("reports that its add-ons are applied in all clusters, and of which generation that is", () => {
    const all = [made("blue", { conditions: ["Applied", "Healthy"] })];
    const { status } = plan(observed({ clusters: ["blue"], made: all }), NOW);
    expect(status).toMatchObject({ observedGeneration: 3 });
    expect(status).not.toHaveProperty("failing");
    expect(status.conditions?.map((c) => `${c.type} ${c.status} ${c.reason} ${c.message}`)).toEqual([
      "Applied True Applied in 1 clusters",
      "Healthy True Healthy in 1 clusters",
    ]);
    const { generation: _, ...metadata } = selecting().metadata;
    const set = { ...selecting(), metadata };
    expect(plan(observed({ set }), NOW).status).not.toHaveProperty("observedGeneration");
  });

  test("waits for those of its clusters when it is deleted, if it has the finalizer", () => {
    const of = (finalizers: string[]) =>
      plan(observed({ set: selecting({ deletionTimestamp: gone, finalizers }), made: [made("blue")] }), NOW);
    expect(of([finalizer]).wait).toEqual({ for: "the AddonSets of its clusters to be deleted" });
    expect([of([]).steps, of([]).wait]).toEqual([[], undefined]);
  });

  test("does not repair one that is being deleted", () => {
    const changed = made("blue", { deletionTimestamp: gone, spec: { addons: [] } });
    expect(stepsOf({ clusters: ["blue"], made: [changed] })).toEqual([]);
  });

  test("names what is in its way", () => {
    const { status } = plan(observed({ taken: new Set(["base-blue", "base-red"]) }), NOW);
    expect(status.conditions?.[0]).toMatchObject({
      status: "False",
      message:
        "AddonSets of these names exist and were not made for this one: base-blue, base-red; delete or rename them (ADDON_SET_NAME_TAKEN)",
    });
  });

  test("reports names that are in use", () => {
    const { status } = plan(observed({ clusters: ["blue"], taken: new Set(["base-blue"]) }), NOW);
    expect(status.conditions).toMatchObject([{ type: "Applied", reason: "NameTaken" }, { type: "Healthy" }]);
  });

  test("keeps names of sets and clusters with dashes apart, in 63 characters", () => {
    expect(nameFor("a-b", "c")).not.toBe(nameFor("a", "b-c"));
    expect(nameFor("a".repeat(60), "b".repeat(60))).toHaveLength(63);
  });
});
