import { describe, expect, test } from "vitest";
import type { GroupImage } from "../../inventory/images.ts";
import { outcome, record } from "../../testing/planned.ts";
import { planRoll, type KubeProxyFacts, type RollFacts, type RollPool, type RollStart } from "./plan.ts";

const imageOf = (os_distro: string | undefined, more: object = {}): GroupImage => ({
  ident: "i",
  found: [{ id: "i", name: "image", status: "active", ...(os_distro === undefined ? {} : { os_distro }), ...more }],
  groups: ["g"],
});

describe("the phase roll", () => {
  const pool = (changes: Partial<RollPool> = {}): RollPool => ({
    name: "p",
    group: "g",
    isPaused: false,
    replicas: 2,
    fresh: 2,
    adopted: 0,
    failure: undefined,
    ...changes,
  });
  const fresh = { isPaused: true, fresh: 0, adopted: 2 };
  const nodePlugin = { isDrivers: false, isRestricted: false, hasOwn: false, hasVolumes: false, hasClasses: false };
  const start: RollStart = { images: [imageOf("ubuntu")], hasImage: true, nodePlugin, outdated: [] };
  const kubeProxy: KubeProxyFacts = { isChosen: true, unapplied: undefined, unhealthy: undefined };
  test.for<[string, readonly RollPool[], string]>([
    ["begins with the first pool", [pool(fresh), pool(fresh)], "roll"],
    ["waits for it before the second", [pool({ fresh: 1, adopted: 1 }), pool(fresh)], "wait"],
    ["continues with the second", [pool(), pool(fresh)], "roll"],
    ["is done when none of Heat's machines is left", [pool(), pool()], "done"],
  ])("%s", ([, pools, expected]) =>
    expect(outcome(planRoll({ pools, kubeProxy, start: undefined }, record))).toBe(expected),
  );

  const write = { index: 3, kind: "MachineDeployment", name: "p" };
  test.for<[string, Partial<RollStart>, string]>([
    ["begins with an image that new nodes can be made of", {}, "roll"],
    ["has new nodes made of the image that was named", { hasImage: false, outdated: [write] }, "set-image"],
    ["writes what the Magnum API would apply", { outdated: [write] }, "write"],
    [
      "keeps the driver's node part of volumes off new nodes",
      { nodePlugin: { ...nodePlugin, isDrivers: true, hasOwn: true, hasVolumes: true } },
      "restrict-node-plugin",
    ],
    [
      "is refused when pods with volumes would not start on new nodes",
      { nodePlugin: { ...nodePlugin, isDrivers: true, hasVolumes: true } },
      "MIGRATE_NO_NODE_PLUGIN",
    ],
    [
      "begins without a node part of volumes in a cluster that has none",
      { nodePlugin: { ...nodePlugin, isDrivers: true, isRestricted: true } },
      "roll",
    ],
    ["begins with an image that says nothing", { images: [imageOf(undefined)] }, "roll"],
    ["is refused with Fedora CoreOS", { images: [imageOf("fedora-coreos")] }, "MIGRATE_NODE_IMAGE_UNFIT"],
    ["is refused with Fedora Atomic", { images: [imageOf("fedora-atomic")] }, "MIGRATE_NODE_IMAGE_UNFIT"],
    ["is refused with CoreOS, however it is written", { images: [imageOf("CoreOS")] }, "MIGRATE_NODE_IMAGE_UNFIT"],
    [
      "is refused with an image that is gone",
      { images: [{ ...imageOf("x"), found: [] }] },
      "MIGRATE_NODE_IMAGE_UNKNOWN",
    ],
    [
      "is refused with an image that is not active",
      { images: [imageOf("ubuntu", { status: "deactivated" })] },
      "MIGRATE_NODE_IMAGE_INACTIVE",
    ],
    [
      "does not ask for an image of a node group that has no machines",
      { images: [{ ...imageOf("fedora-coreos"), groups: ["empty"] }] },
      "roll",
    ],
  ])("%s before the first machine is made", ([, changes, expected]) =>
    expect(outcome(planRoll({ pools: [pool(fresh)], kubeProxy, start: { ...start, ...changes } }, record))).toBe(
      expected,
    ),
  );

  test("shows all that it does before the first machine, and that machine's node group last", () => {
    const facts = {
      pools: [pool(fresh)],
      kubeProxy: { ...kubeProxy, isChosen: false, unapplied: "there is none" },
      start: { ...start, hasImage: false, outdated: [write, { index: 9, kind: "AddonSet", name: "web-1-addons" }] },
    };
    const plan = planRoll(facts, { ...record, nodeImage: { id: "i2", name: "node" } });
    expect(plan.steps.map(({ what }) => what)).toEqual([
      "have new nodes made of image node (i2)",
      "have kube-proxy on new nodes as an add-on of the cluster",
      "write MachineDeployment p",
      "write AddonSet web-1-addons",
      "replace the 2 machines of node group g, one at a time",
    ]);
    expect(plan.batch).toBe(4);
  });

  const unready = { unapplied: "no connection", unhealthy: "no connection" };
  test.for<[string, Partial<RollFacts>, string]>([
    ["is chosen before a machine is made", { kubeProxy: { ...unready, isChosen: false }, start }, "set-kube-proxy"],
    ["is applied to the cluster before a machine is made", { kubeProxy: { ...kubeProxy, ...unready }, start }, "wait"],
    ["does not need to work before a node has it", { kubeProxy: { ...kubeProxy, unhealthy: "0 of 0" }, start }, "roll"],
    [
      "works before the next pool is begun",
      { pools: [pool(), pool(fresh)], kubeProxy: { ...kubeProxy, ...unready } },
      "wait",
    ],
    ["works before the phase is done", { pools: [pool(), pool()], kubeProxy: { ...kubeProxy, ...unready } }, "wait"],
    [
      "is chosen for a cluster without workers",
      { pools: [pool({ replicas: 0, fresh: 0 })], kubeProxy: { ...kubeProxy, isChosen: false }, start },
      "set-kube-proxy",
    ],
  ])("has a kube-proxy of new nodes that %s", ([, changes, expected]) => {
    const facts = { pools: [pool(fresh)], kubeProxy, start: undefined, ...changes };
    expect(outcome(planRoll(facts, record))).toBe(expected);
  });

  test("warns of an image that does not say what it is, and not of one that does", () => {
    const notes = (images: readonly GroupImage[]) =>
      planRoll({ pools: [pool(fresh)], kubeProxy, start: { ...start, images } }, record).notes;
    expect(notes([imageOf(undefined)])?.join()).toMatch(/node group g: .*no os_distro.*kubeadm/);
    expect(notes([imageOf("ubuntu")])).toEqual([]);
  });

  test("warns of StorageClasses of Cinder without a node part of volumes for new nodes", () => {
    const notes = (changes: Partial<RollStart["nodePlugin"]>) => {
      const before = { ...start, nodePlugin: { ...nodePlugin, isDrivers: true, hasClasses: true, ...changes } };
      return planRoll({ pools: [pool(fresh)], kubeProxy, start: before }, record).notes?.join() ?? "";
    };
    expect(notes({})).toMatch(/StorageClasses of Cinder.*--csi-image/);
    expect(notes({ hasOwn: true })).toBe("");
    expect(notes({ hasClasses: false })).toBe("");
    expect(notes({ isDrivers: false })).toBe("");
  });

  test("says while a pool is replaced that kube-proxy does not work on its new nodes", () => {
    const waitOf = (changes: Partial<RollPool>, proxy: Partial<KubeProxyFacts>) =>
      planRoll({ pools: [pool(changes)], kubeProxy: { ...kubeProxy, ...proxy }, start: undefined }, record).wait;
    const unhealthy = "0 of 1 pods are ready";
    expect(waitOf({ fresh: 1, adopted: 1 }, { unhealthy })).toContain("kube-proxy does not work");
    expect(waitOf({ fresh: 1, adopted: 1 }, { unhealthy })).toContain(unhealthy);
    expect(waitOf({ fresh: 1, adopted: 1 }, {})).not.toContain("kube-proxy");
    expect(waitOf({ fresh: 0, adopted: 2 }, { unhealthy })).not.toContain("kube-proxy");
  });

  test("names the machine at which a pool has stopped", () => {
    const pools = [pool({ fresh: 0, adopted: 2, failure: "Machine a: quota" })];
    expect(planRoll({ pools, kubeProxy, start: undefined }, record).wait).toContain("Machine a: quota");
  });
});
