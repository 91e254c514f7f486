import { describe, expect, test } from "vitest";
import type { GroupImage } from "../../inventory/images.ts";
import { outcome, record } from "../../testing/planned.ts";
import type { AdoptedMachine } from "./drain-hook.ts";
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
    adopted: [],
    failure: undefined,
    ...changes,
  });
  const machine = (name: string, changes: Partial<AdoptedMachine> = {}): AdoptedMachine => ({
    name,
    isHeld: true,
    isDeleting: false,
    progress: "",
    ...changes,
  });
  const [one, two] = [machine("a"), machine("b")];
  const fresh = { isPaused: true, fresh: 0, adopted: [one, two] };
  const nodePlugin = { isDrivers: false, isRestricted: false, hasOwn: false, hasVolumes: false, hasClasses: false };
  const start: RollStart = {
    images: [imageOf("ubuntu")],
    hasImage: true,
    hasKubeletSource: true,
    nodePlugin,
    outdated: [],
  };
  const kubeProxy: KubeProxyFacts = { isChosen: true, unapplied: undefined, unhealthy: undefined };
  test.for<[string, readonly RollPool[], string]>([
    ["begins with the first pool", [pool(fresh), pool(fresh)], "roll"],
    ["waits for it before the second", [pool({ fresh: 1, adopted: [one] }), pool(fresh)], "wait"],
    ["continues with the second", [pool(), pool(fresh)], "roll"],
    ["is done when none of Heat's machines is left", [pool(), pool()], "done"],
  ])("%s", ([, pools, expected]) =>
    expect(outcome(planRoll({ pools, kubeProxy, start: undefined, problems: [] }, record))).toBe(expected),
  );

  test("ends with a proof for each node group, and for kube-proxy where it was chosen", () => {
    const proof = (isChosen: boolean) =>
      planRoll({ pools: [pool()], kubeProxy: { ...kubeProxy, isChosen }, start: undefined, problems: [] }, record)
        .proof;
    const [group, proxy, last] = [
      "node group g: 2 nodes of Cluster API, none of Heat's",
      "kube-proxy runs on every new node, as an add-on of the cluster",
      "every server of the workers of cluster web was replaced after its Node was drained",
    ];
    expect(proof(true)).toEqual([group, proxy, last]);
    expect(proof(false)).toEqual([group, last]);
  });

  test("waits for the machines of a group of which none of Heat's is left, too", () => {
    const plan = planRoll({ pools: [pool({ fresh: 1 })], kubeProxy, start: undefined, problems: [] }, record);
    expect(outcome(plan)).toBe("wait");
  });

  test("says what new nodes lack, and how they get it", () => {
    const planned = (changes: Partial<RollStart>) =>
      planRoll({ pools: [pool(fresh)], kubeProxy, start: { ...start, ...changes }, problems: [] }, record);
    const whatOf = (changes: Partial<RollStart>) => planned(changes).steps[0]?.what;
    expect(whatOf({ hasKubeletSource: false })).toBe(
      "have new nodes accept the hosted API server at port 10250, for logs and exec",
    );
    expect(whatOf({ nodePlugin: { ...nodePlugin, isDrivers: true, hasOwn: true } })).toBe(
      "keep DaemonSet kube-system/csi-cinder-nodeplugin of Magnum's driver on Heat's nodes",
    );
    const { refused } = planned({ nodePlugin: { ...nodePlugin, isDrivers: true, hasVolumes: true } });
    expect(refused?.message).toMatch(/^The cluster has volumes of Cinder, and new nodes would not have the node part/);
    expect(refused?.hint).toMatch(/^Start Causeway's controllers with --csi-image IMAGE/);
  });

  const write = { index: 3, kind: "MachineDeployment", name: "p" };
  test.for<[string, Partial<RollStart>, string]>([
    ["begins with an image that new nodes can be made of", {}, "roll"],
    ["has new nodes made of the image that was named", { hasImage: false, outdated: [write] }, "set-image"],
    ["opens the kubelets of new nodes", { hasKubeletSource: false, outdated: [write] }, "set-kubelet-source"],
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
    expect(
      outcome(planRoll({ pools: [pool(fresh)], kubeProxy, start: { ...start, ...changes }, problems: [] }, record)),
    ).toBe(expected),
  );

  test("shows all that it does before the first machine, and that machine's node group last", () => {
    const facts = {
      pools: [pool({ ...fresh, adopted: [one, machine("b", { isHeld: false })] })],
      problems: [],
      kubeProxy: { ...kubeProxy, isChosen: false, unapplied: "there is none" },
      start: { ...start, hasImage: false, outdated: [write, { index: 9, kind: "AddonSet", name: "web-1-addons" }] },
    };
    const plan = planRoll(facts, { ...record, nodeImage: { id: "i2", name: "node" } });
    expect(plan.steps.map(({ what }) => what)).toEqual([
      "have new nodes made of image node (i2)",
      "have kube-proxy on new nodes as an add-on of the cluster",
      "write MachineDeployment p",
      "write AddonSet web-1-addons",
      "have the drain of Machine b wait for new nodes that work",
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
    const facts = { pools: [pool(fresh)], kubeProxy, start: undefined, problems: [], ...changes };
    expect(outcome(planRoll(facts, record))).toBe(expected);
  });

  test("warns of an image that does not say what it is, and not of one that does", () => {
    const notes = (images: readonly GroupImage[]) =>
      planRoll({ pools: [pool(fresh)], kubeProxy, start: { ...start, images }, problems: [] }, record).notes;
    expect(notes([imageOf(undefined)])?.join()).toMatch(/node group g: .*no os_distro.*kubeadm/);
    expect(notes([imageOf("ubuntu")])).toEqual([]);
  });

  test("warns of StorageClasses of Cinder without a node part of volumes for new nodes", () => {
    const notes = (changes: Partial<RollStart["nodePlugin"]>) => {
      const before = { ...start, nodePlugin: { ...nodePlugin, isDrivers: true, hasClasses: true, ...changes } };
      return planRoll({ pools: [pool(fresh)], kubeProxy, start: before, problems: [] }, record).notes?.join() ?? "";
    };
    expect(notes({})).toMatch(/StorageClasses of Cinder.*--csi-image/);
    expect(notes({ hasOwn: true })).toBe("");
    expect(notes({ hasClasses: false })).toBe("");
    expect(notes({ isDrivers: false })).toBe("");
  });

  const deleted = machine("a", { isDeleting: true });
  const draining = machine("a", { isDeleting: true, isHeld: false });
  const problem = "kube-proxy does not work on Node n: it has no pod there";
  test.for<[string, readonly AdoptedMachine[], readonly string[], string]>([
    ["holds machines that an earlier version left open", [machine("a", { isHeld: false }), two], [], "hold"],
    ["waits while none is deleted", [one, two], [], "wait"],
    ["drains the one that is deleted when new nodes work", [deleted, two], [], "release"],
    ["drains none while a new node does not work", [deleted, two], [problem], "wait"],
    ["drains none while another one is drained", [draining, machine("b", { isDeleting: true })], [], "wait"],
    ["drains one of those that are deleted", [deleted, machine("b", { isDeleting: true })], [], "release"],
  ])("%s, of a pool that is being replaced", ([, adopted, problems, expected]) => {
    const plan = planRoll({ pools: [pool({ fresh: 1, adopted })], kubeProxy, start: undefined, problems }, record);
    expect(outcome(plan)).toBe(expected);
    if (expected === "release") expect(plan.steps).toHaveLength(1);
  });

  test("holds all machines of a pool in the same batch in which its pause ends, and before that", () => {
    const adopted = [machine("a", { isHeld: false }), two];
    const pools = [pool(), pool({ ...fresh, adopted })];
    const { steps, batch } = planRoll({ pools, kubeProxy, start: undefined, problems: [] }, record);
    expect([batch, steps.map(({ type }) => type)]).toEqual([2, ["hold", "roll"]]);
  });

  test("says what the drain in progress waits for", () => {
    const adopted = [machine("a", { isDeleting: true, isHeld: false, progress: "a budget keeps web-0" }), two];
    const pools = [pool({ fresh: 1, adopted })];
    const { wait } = planRoll({ pools, kubeProxy, start: undefined, problems: [] }, record);
    expect(wait).toBe(
      "node group g: 1 of 2 new nodes are ready, 2 of Heat's are left; Machine a: a budget keeps web-0",
    );
  });

  test("names what does not work on new nodes, three of many", () => {
    const waitOf = (problems: readonly string[]) =>
      planRoll({ pools: [pool({ fresh: 1, adopted: [deleted] })], kubeProxy, start: undefined, problems }, record).wait;
    expect(waitOf([problem])).toContain(`no other node is drained before new ones work: ${problem}`);
    expect(waitOf([problem, "b", "c", "d", "e"])).toMatch(/there; b; c; and 2 more$/);
  });

  test("names the machine at which a pool has stopped", () => {
    const pools = [pool({ fresh: 0, adopted: [one, two], failure: "Machine a: quota" })];
    expect(planRoll({ pools, kubeProxy, start: undefined, problems: [] }, record).wait).toContain("Machine a: quota");
  });
});
