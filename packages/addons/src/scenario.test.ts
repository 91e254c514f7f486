import { AddonSet, Cluster } from "@causeway/api";
import {
  ConfigMap,
  Deployment,
  getCondition,
  Namespace,
  CustomResourceDefinition,
  type Condition,
} from "@causeway/kubernetes";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { labels } from "./manifests/names.ts";
import { startWorld, type World } from "./testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

const configMap = (name: string, text: string) =>
  `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}, namespace: default}, data: {text: ${text}}}\n---\n`;

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "example.com/web:1" }] }
`;

const key = (name: string) => ({ namespace: "default", name });
const find = (name: string) => world.tenant.find(ConfigMap, key(name));
const text = async (name: string) => (await find(name))?.data?.["text"];

async function stateOf(addon: string): Promise<string | undefined> {
  return (await world.set()).status?.addons?.find(({ name }) => name === addon)?.state;
}

const applied = async () => {
  const conditions = ((await world.set()).status?.conditions ?? []) as Condition[];
  const condition = getCondition(conditions, "Applied");
  return condition?.status === "True" && condition.observedGeneration === (await world.set()).metadata.generation;
};

describe("an add-on", () => {
  test("that is deleted is applied again without waiting, and users of the cluster get an event", async () => {
    await world.declare([{ name: "a", manifests: configMap("one", "declared") + configMap("two", "declared") }]);
    await world.until("installed", applied);
    expect(world.calls).toEqual(["apply ConfigMap default/one", "apply ConfigMap default/two"]);
    await world.tenant.delete(ConfigMap, key("one"));
    await world.until("restored", async () => (await text("one")) === "declared");
    await world.until("reported", async () => (await world.events(world.tenant)).length === 1);
    expect(await world.events(world.tenant)).toEqual([
      "AddonRestored: Restored ConfigMap default/one of add-on a: it was deleted",
    ]);
    expect(world.calls.slice(2)).toEqual(["apply ConfigMap default/one"]);
  });

  test("that is edited is reverted, and the event names the field, both values and the manager", async () => {
    await world.declare([{ name: "a", manifests: deployment }]);
    await world.until("installed", async () => (await world.tenant.find(Deployment, key("web"))) !== undefined);
    await world.until("recorded", async () => (await stateOf("a")) === "Unhealthy");
    const body = { spec: { replicas: 0 } };
    await world.tenant.patch(Deployment, key("web"), { type: "merge", body }, { fieldManager: "kubectl-edit" });
    await world.until("reverted", async () => (await world.tenant.get(Deployment, key("web"))).spec.replicas === 2);
    await world.until("reported", async () => (await world.events(world.tenant)).length === 1);
    expect(await world.events(world.tenant)).toEqual([
      "AddonRestored: Restored Deployment.apps default/web of add-on a: spec.replicas was 0 instead of 2, changed by kubectl-edit",
    ]);
  });

  test("keeps a field that its users may change, also when the rest is reverted", async () => {
    const mayChange = [{ kind: "Deployment", field: "spec.replicas" }];
    await world.declare([{ name: "a", manifests: deployment, mayChange }]);
    await world.until("installed", async () => (await stateOf("a")) === "Unhealthy");
    const edit = (body: Record<string, unknown>) =>
      world.tenant.patch(Deployment, key("web"), { type: "merge", body }, { fieldManager: "kubectl-edit" });
    await edit({ spec: { replicas: 5, revisionHistoryLimit: 3 }, metadata: { labels: { [labels.addon]: "none" } } });
    await world.until("reverted", async () => {
      const { metadata, spec } = await world.tenant.get(Deployment, key("web"));
      return metadata.labels?.[labels.addon] === "a" && spec.replicas === 5;
    });
    const changed = deployment.replace("web:1", "web:2");
    await world.declare([{ name: "a", manifests: changed, mayChange }]);
    await world.until("upgraded", async () => {
      const { spec } = await world.tenant.get(Deployment, key("web"));
      return spec.template.spec?.containers[0]?.image === "example.com/web:2" && spec.replicas === 5;
    });
  });

  test("that another writer fights for is restored less and less often, and a warning names the field and the writer", async () => {
    await world.declare([{ name: "a", manifests: configMap("one", "declared") }]);
    await world.until("installed", applied);
    const fight = async () => {
      if ((await text("one")) === "declared")
        await world.tenant.patch(
          ConfigMap,
          key("one"),
          { type: "merge", body: { data: { text: "other" } } },
          { fieldManager: "rival" },
        );
    };
    await world.pass("a warning", async () => {
      await fight();
      return (await world.events(world.tenant)).some((event) => event.startsWith("AddonContested"));
    });
    const before = world.calls.length;
    const began = world.clock.now();
    await world.pass("a minute", async () => {
      await fight();
      return world.clock.now() - began >= 60_000;
    });
    expect(world.calls.length - before).toBeLessThan(8);
    const warnings = (await world.events(world.client)).filter((event) => event.includes("rival"));
    expect(warnings.join("\n")).toContain("AddonContested");
    expect((await world.set()).status?.addons?.[0]?.message).toBe(
      "ConfigMap default/one is changed by rival again and again (data.text) and is restored less and less often (ADDON_CONTESTED)",
    );
    expect(warnings.join("\n")).toContain('data.text was "other" instead of "declared", changed by rival');
  });

  test("is pruned when it is removed; objects of users, namespaces and CRDs remain", async () => {
    const namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: shared}}\n---\n";
    await world.declare([
      { name: "a", manifests: namespace + configMap("one", "declared") + configMap("two", "declared") },
      { name: "b", manifests: configMap("three", "declared") },
    ]);
    await world.until("installed", applied);
    await world.tenant.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: key("users") });
    await world.declare([{ name: "b", manifests: configMap("three", "declared") }]);
    await world.until("pruned", async () => (await find("one")) === undefined && (await find("two")) === undefined);
    await world.until("settled", applied);
    expect(await world.tenant.find(Namespace, { namespace: "", name: "shared" })).toBeDefined();
    expect(await find("users")).toBeDefined();
    expect(await text("three")).toBe("declared");
    expect((await world.set()).status?.addons?.map(({ name }) => name)).toEqual(["b"]);
  });

  test("that cannot be applied keeps what it had, and does not hold up another", async () => {
    await world.declare([{ name: "a", manifests: configMap("one", "first") }]);
    await world.until("installed", applied);
    const broken = "{apiVersion: v1, kind: Service, metadata: {name: broken}, spec: {ports: [{port: 70000}]}}\n---\n";
    await world.declare([
      { name: "a", manifests: `${configMap("one", "first")}${broken}` },
      { name: "b", manifests: configMap("two", "declared") },
    ]);
    await world.pass("failed", async () => (await stateOf("a")) === "Failed" && (await stateOf("b")) === "Applied");
    const refused = (await world.set()).status?.addons?.find(({ name }) => name === "a");
    expect(refused?.code).toBe("KUBERNETES_INVALID");
    expect(await text("one")).toBe("first");
    await world.tenant.delete(ConfigMap, key("one"));
    await world.until("restored", async () => (await text("one")) === "first");
  });

  test("with a changed field that is immutable says so, and is recreated with consent only", async () => {
    const moved = deployment.replaceAll("app: web", "app: moved");
    const agreed = moved.replace(
      "metadata: { name: web,",
      'metadata: { annotations: { addons.causeway.dev/recreate: "true" }, name: web,',
    );
    const uid = async () => (await world.tenant.find(Deployment, key("web")))?.metadata.uid;
    const message = async () => (await world.set()).status?.addons?.find(({ name }) => name === "a")?.message ?? "";
    await world.declare([{ name: "a", manifests: deployment }]);
    await world.until("installed", async () => (await uid()) !== undefined);
    const first = await uid();
    await world.declare([{ name: "a", manifests: moved }]);
    await world.until("refused", async () => (await stateOf("a")) === "Failed");
    expect(await message()).toMatch(
      /^Deployment.apps default\/web cannot be changed as declared: .*immutable.*ADDON_OBJECT_IMMUTABLE/s,
    );
    expect(await uid()).toBe(first);

    // Consent is no license to delete what the manifests would not bring back.
    await world.declare([{ name: "a", manifests: agreed.replace("replicas: 2", "replicas: -1") }]);
    await world.until("refused again", async () => /replicas/.test(await message()));
    expect(await uid()).toBe(first);

    await world.declare([{ name: "a", manifests: agreed }]);
    await world.until("recreated", async () => ![first, undefined].includes(await uid()));
    const live = await world.tenant.get(Deployment, key("web"));
    expect(live.spec.selector.matchLabels).toEqual({ app: "moved" });
    await world.until("reported", async () =>
      (await world.events(world.client)).some((each) => each.startsWith("AddonRecreated")),
    );
  });

  test("of a later wave waits until the earlier one works, and says for what", async () => {
    await world.declare([
      { name: "late", wave: 1, manifests: configMap("one", "declared") },
      { name: "early", wave: 0, manifests: deployment },
    ]);
    await world.until("waiting", async () => (await stateOf("late")) === "Waiting");
    expect(await find("one")).toBeUndefined();
    const { status } = await world.set();
    expect(status?.addons?.find(({ name }) => name === "late")?.message).toBe(
      "waits for add-on early of wave 0: Deployment.apps default/web: its newest spec was not observed yet",
    );
    const { metadata } = await world.tenant.get(Deployment, key("web"));
    const counts = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2 };
    const body = { status: { ...counts, observedGeneration: metadata.generation } };
    await world.tenant.patch(Deployment, key("web"), { type: "merge", body }, { subresource: "status" });
    await world.until("installed", async () => (await text("one")) === "declared");
  });

  test("with a CRD and an object of it is applied in order, and survives the deletion of the CRD", async () => {
    const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Thing, plural: things, singular: thing, listKind: ThingList }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
---
`;
    const thing = "{apiVersion: example.com/v1, kind: Thing, metadata: {name: thing, namespace: default}, size: 1}\n";
    await world.declare([{ name: "a", manifests: thing + "---\n" + crd }]);
    await world.pass("installed", applied);
    const things = { group: "example.com", version: "v1", kind: "Thing", plural: "things", namespaced: true };
    expect(await world.tenant.find(things, key("thing"))).toMatchObject({ size: 1 });
    await world.tenant.delete(CustomResourceDefinition, { namespace: "", name: "things.example.com" });
    const passed = await world.pass("restored", async () => {
      try {
        return (await world.tenant.find(things, key("thing"))) !== undefined && (await applied());
      } catch {
        return false;
      }
    });
    expect(passed).toBeLessThanOrEqual(5_000);
  });
});

describe("a set", () => {
  test("reads sources only if they are labelled, and follows them", async () => {
    const data = { "manifests.yaml": configMap("one", "first") };
    const source = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...key("source") }, data };
    await world.client.create(ConfigMap, source);
    await world.declare([{ name: "a", sources: [{ kind: "ConfigMap", name: "source" }] }]);
    await world.until("refused", async () => (await stateOf("a")) === "Failed");
    const { status } = await world.set();
    expect(status?.addons?.[0]?.message).toContain("ADDON_SOURCE_MISSING");
    const body = { metadata: { labels: { [labels.source]: "true" } } };
    await world.client.patch(ConfigMap, key("source"), { type: "merge", body });
    await world.until("installed", async () => (await text("one")) === "first");
    const next = { data: { "manifests.yaml": configMap("one", "second") } };
    await world.client.patch(ConfigMap, key("source"), { type: "merge", body: next });
    await world.until("upgraded", async () => (await text("one")) === "second");
    await world.client.delete(ConfigMap, key("source"));
    await world.until("reported", async () => (await stateOf("a")) === "Failed");
    expect(await text("one")).toBe("second");
  });

  test("is restored after a restart of the controller, with nothing else written", async () => {
    await world.declare([{ name: "a", manifests: configMap("one", "declared") + configMap("two", "declared") }]);
    await world.until("installed", applied);
    await world.restart();
    await world.tenant.delete(ConfigMap, key("one"));
    await world.until("restored", async () => (await text("one")) === "declared");
    await world.until("reported", async () => (await world.events(world.tenant)).length === 1);
    expect((await world.events(world.tenant))[0]).toContain("ConfigMap default/one of add-on a: it was deleted");
  });

  test("that is protected refuses the deletion of its objects, and still prunes them", async () => {
    await world.declare([{ name: "a", manifests: configMap("one", "declared") }], { protect: true });
    await world.until("installed", applied);
    await world.until("refused", async () => {
      const refusal = await world.tenant.delete(ConfigMap, key("one")).then(
        () => "",
        (error: unknown) => String(error),
      );
      return refusal.includes("belongs to the add-ons of the cluster");
    });
    await world.declare([{ name: "b", manifests: configMap("two", "declared") }], { protect: true });
    await world.until("pruned", async () => (await find("one")) === undefined);
  });

  test.for([
    ["Keep", true],
    ["Delete", false],
  ] as const)("with deletionPolicy %s leaves its objects: %s", async ([deletionPolicy, stays]) => {
    await world.declare([{ name: "a", manifests: configMap("one", "declared") }], { deletionPolicy });
    await world.until("installed", applied);
    const { AddonSet } = await import("@causeway/api");
    await world.client.delete(AddonSet, { namespace: "default", name: "system" });
    await world.until("gone", async () => (await world.client.find(AddonSet, key("system"))) === undefined);
    expect((await find("one")) !== undefined).toBe(stays);
  });
});

describe("an AddonSet that selects clusters by labels", () => {
  const sets = async () => (await world.client.list(AddonSet)).items;
  const selecting = {
    apiVersion: "addons.causeway.dev/v1alpha1",
    kind: "AddonSet",
    metadata: { name: "gold", namespace: "default" },
    spec: {
      clusterSelector: { matchLabels: { tier: "gold" } },
      addons: [{ name: "a", manifests: configMap("one", "declared") }],
      deletionPolicy: "Delete" as const,
    },
  };
  const label = (tier: string | null) =>
    world.client.patch(Cluster, key("tenant"), { type: "merge", body: { metadata: { labels: { tier } } } });

  test("installs in those that match, follows labels and changes, and leaves nothing", async () => {
    await world.client.create(AddonSet, selecting);
    await world.until("a status", async () => (await sets())[0]?.status?.clusters?.selected === 0);
    await label("gold");
    await world.until("installed", async () => (await text("one")) === "declared");
    await world.until("reported", async () => {
      const set = await world.client.get(AddonSet, key("gold"));
      return set.status?.clusters?.applied === 1 && set.status.clusters.healthy === 1;
    });
    const changed = { ...selecting.spec, addons: [{ name: "a", manifests: configMap("one", "changed") }] };
    await world.client.patch(AddonSet, key("gold"), { type: "merge", body: { spec: changed } });
    await world.until("changed", async () => (await text("one")) === "changed");

    const made = (await sets()).find(({ spec }) => spec.clusterName === "tenant");
    await world.client.delete(AddonSet, key(made?.metadata.name ?? ""));
    await world.until("made again", async () => {
      const again = (await sets()).find(({ spec }) => spec.clusterName === "tenant");
      return again !== undefined && again.metadata.uid !== made?.metadata.uid && (await text("one")) === "changed";
    });

    await label(null);
    await world.until("removed", async () => (await find("one")) === undefined && (await sets()).length === 1);
    await label("gold");
    await world.until("installed again", async () => (await text("one")) === "changed");
    await world.client.delete(AddonSet, key("gold"));
    await world.until("gone", async () => (await sets()).length === 0 && (await find("one")) === undefined);
  });

  test("is of one cluster or of many, and remains so", async () => {
    const { clusterSelector: _, ...neither } = selecting.spec;
    await expect(world.client.create(AddonSet, { ...selecting, spec: neither })).rejects.toThrow(/one of the two/);
    const both = { ...selecting.spec, clusterName: "tenant" };
    await expect(world.client.create(AddonSet, { ...selecting, spec: both })).rejects.toThrow(/one of the two/);
    await world.client.create(AddonSet, selecting);
    const body = { spec: { clusterName: "tenant", clusterSelector: null } };
    await expect(world.client.patch(AddonSet, key("gold"), { type: "merge", body })).rejects.toThrow(
      /cannot replace each other/,
    );
  });
});
