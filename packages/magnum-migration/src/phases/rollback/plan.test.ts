import { describe, expect, test } from "vitest";
import { member, outcome, record } from "../../testing/planned.ts";
import { planRollback, type RollbackFacts } from "./plan.ts";

describe("the rollback of a migration", () => {
  const back: RollbackFacts = {
    stopped: [],
    members: [member("m0", "10.0.0.4")],
    isPoolBusy: false,
    ownMember: "causeway-web-1",
    etcdLost: 0,
    hostedMember: undefined,
    wantedStage: undefined,
    isPaused: false,
    machineObjects: [],
    otherObjects: [],
    unread: undefined,
    kubeProxy: undefined,
    groups: [],
    newServers: [],
    agents: [],
    stoppedWorkloads: [],
  };
  const own = member("causeway-web-1", "192.0.2.1");
  test.for<[string, Partial<RollbackFacts>, string]>([
    [
      "is refused when the masters' etcd is gone",
      { etcdLost: 1, stopped: [{ name: "m0", address: "a" }] },
      "MIGRATE_MEMBERS_LOST",
    ],
    ["starts the masters first", { stopped: [{ name: "m0", address: "a" }], members: [own] }, "start-control-plane"],
    ["leads clients to them", { members: [own] }, "add-pool-members"],
    ["waits until they are ready", { members: [own, { ...member("m0", "10.0.0.4"), isReady: false }] }, "wait"],
    [
      "leads clients away from the hosted API",
      { members: [own, member("m0", "10.0.0.4")], machineObjects: ["Machine n0"] },
      "remove-pool-member",
    ],
    ["pauses before it forgets machines", { machineObjects: ["Machine n0"] }, "pause"],
    [
      "forgets machines before their control plane stops",
      { machineObjects: ["Machine n0"], isPaused: true, wantedStage: "Serve" },
      "forget-object",
    ],
    ["stops the hosted API", { wantedStage: "Serve", hostedMember: "9" }, "follow"],
    [
      "takes its member out of etcd",
      { wantedStage: "Follow", hostedMember: "9", otherObjects: ["Cluster web"] },
      "remove-member",
    ],
    ["deletes the rest", { otherObjects: ["Cluster web"] }, "forget-object"],
    [
      "deletes security groups when what made them is gone",
      { groups: [{ id: "g", name: "k8s-cluster" }], agents: [{ name: "m0", address: "a" }] },
      "delete-group",
    ],
    [
      "keeps security groups while what made them is there",
      { groups: [{ id: "g", name: "k8s-cluster" }], otherObjects: ["Cluster web"] },
      "forget-object",
    ],
    [
      "deletes the kube-proxy of roll when what would restore it is gone",
      {
        kubeProxy: { objects: ["DaemonSet kube-proxy"], isRestricted: false, nodes: [] },
        groups: [{ id: "g", name: "k8s-cluster" }],
      },
      "delete-kube-proxy",
    ],
    [
      "keeps the kube-proxy of roll while its AddonSet would restore it",
      {
        kubeProxy: { objects: ["DaemonSet kube-proxy"], isRestricted: false, nodes: [] },
        machineObjects: ["AddonSet web-1-addons"],
        isPaused: true,
      },
      "forget-object",
    ],
    [
      "lets the driver's node part of volumes have all nodes again when no new one is left",
      { kubeProxy: { objects: [], isRestricted: true, nodes: [] } },
      "release-node-plugin",
    ],
    [
      "keeps the kube-proxy that new nodes have",
      { kubeProxy: { objects: ["DaemonSet kube-proxy"], isRestricted: true, nodes: ["n1"] } },
      "done",
    ],
    ["starts what freeze stopped", { agents: [{ name: "m0", address: "a" }] }, "start-agent"],
    [
      "starts what phases stopped in the cluster when what took its place is gone",
      { stoppedWorkloads: [{ kind: "DaemonSet", name: "openstack-cloud-controller-manager" }] },
      "start-workload",
    ],
    ["waits until the cluster says what phases stopped in it", { stoppedWorkloads: undefined }, "wait"],
    [
      "waits for an API of the cluster that does not respond",
      { stoppedWorkloads: undefined, unread: { code: "KUBERNETES_UNREACHABLE", message: "m", isTransient: true } },
      "wait",
    ],
    [
      "is refused when the cluster's API refuses to say what phases stopped in it",
      { stoppedWorkloads: undefined, unread: { code: "KUBERNETES_FORBIDDEN", message: "m", isTransient: false } },
      "KUBERNETES_FORBIDDEN",
    ],
    [
      "starts the masters whatever the cluster's API refuses",
      {
        stopped: [{ name: "m0", address: "a" }],
        stoppedWorkloads: undefined,
        unread: { code: "KUBERNETES_FORBIDDEN", message: "m", isTransient: false },
      },
      "start-control-plane",
    ],
    ["is done then", {}, "done"],
  ])("%s", ([, changes, expected]) => expect(outcome(planRollback({ ...back, ...changes }, record))).toBe(expected));

  test("of a roll waits until the cluster's API says what of kube-proxy there is", () => {
    const rolled = { ...record, begun: "roll" } as const;
    expect(outcome(planRollback(back, rolled))).toBe("wait");
    const unread = { code: "KUBERNETES_UNREACHABLE", message: "connection refused", isTransient: true };
    expect(planRollback({ ...back, unread }, rolled).wait).toBe("the cluster's API to respond: connection refused");
    const forbidden = { ...unread, code: "KUBERNETES_FORBIDDEN", isTransient: false };
    expect(outcome(planRollback({ ...back, unread: forbidden }, rolled))).toBe("KUBERNETES_FORBIDDEN");
    expect(outcome(planRollback({ ...back, kubeProxy: { objects: [], isRestricted: false, nodes: [] } }, rolled))).toBe(
      "done",
    );
  });

  test("lists kube-proxy where new nodes need it", () => {
    const kubeProxy = { objects: ["DaemonSet kube-proxy"], isRestricted: true, nodes: ["n1", "n2"] };
    const { proof } = planRollback({ ...back, kubeProxy }, { ...record, begun: "roll" });
    expect(proof).toContain("kept: DaemonSet kube-proxy, which nodes n1, n2 need");
  });

  test("says that the driver's node part of volumes is kept off new nodes", () => {
    const kubeProxy = { objects: [], isRestricted: true, nodes: ["n1"] };
    const { proof } = planRollback({ ...back, kubeProxy }, { ...record, begun: "roll" });
    expect(proof.join()).toMatch(/kept: the node affinity of DaemonSet .*csi-cinder-nodeplugin.* n1/);
    expect(planRollback(back, record).proof.join()).not.toContain("affinity");
  });

  test.each<[string, Partial<RollbackFacts>]>([
    ["start the control plane on m0 (a)", { stopped: [{ name: "m0", address: "a" }] }],
    ["add 1 masters to the API's load balancer", { members: [] }],
    ["remove 192.0.2.1:6443 from the API's load balancer", { members: [own, member("m0", "10.0.0.4")] }],
    ["pause the Cluster", { machineObjects: ["Machine n0"] }],
    ["delete Machine n0 without what it represents", { machineObjects: ["Machine n0"], isPaused: true }],
    ["stop the hosted API server and controllers", { wantedStage: "Serve" }],
    ["remove the hosted member from etcd", { hostedMember: "9" }],
    ["delete Cluster web", { otherObjects: ["Cluster web"] }],
    [
      "let DaemonSet kube-system/csi-cinder-nodeplugin have the nodes that it had",
      { kubeProxy: { objects: [], isRestricted: true, nodes: [] } },
    ],
    ["delete security group k8s (g), which no port uses", { groups: [{ id: "g", name: "k8s" }] }],
    ["start heat-container-agent on m0 (a)", { agents: [{ name: "m0", address: "a" }] }],
  ])("says of its step: %s", (what, changes) => {
    expect(planRollback({ ...back, ...changes }, record).steps.map((step) => step.what)).toEqual([what]);
  });

  test("waits for a load balancer that is changed before it adds masters to it", () => {
    const plan = planRollback({ ...back, isPoolBusy: true, members: [] }, record);
    expect(plan).toMatchObject({ steps: [], wait: "the API's load balancer to be ACTIVE" });
  });

  test("says what to do where etcd is lost, and where the cluster cannot be read", () => {
    const hint = (changes: Partial<RollbackFacts>) => planRollback({ ...back, ...changes }, record).refused?.hint;
    expect(hint({ etcdLost: 1 })).toBe("Repair the masters' etcd first, or complete the migration.");
    const unread = { code: "KUBERNETES_FORBIDDEN", message: "forbidden", isTransient: false };
    expect(hint({ stoppedWorkloads: undefined, unread })).toBe(
      "Specify an administrator's kubeconfig with --source-kubeconfig, and run rollback again.",
    );
  });

  test("proves that nothing is left, but what new nodes need", () => {
    const proof = (kubeProxy: RollbackFacts["kubeProxy"]) => planRollback({ ...back, kubeProxy }, record).proof;
    const whole = [
      "https://192.0.2.5:6443 leads to the 1 masters",
      "etcd has the masters' members alone, with all that was written",
      "no object of Cluster API is left of the cluster",
    ];
    const last = "allow changes of cluster u in Magnum's policy file again";
    expect(proof(undefined)).toEqual([...whole, last]);
    const nodes = ["n1", "n2"];
    const proxy = "kept: DaemonSet kube-proxy, ConfigMap kube-proxy, which nodes n1, n2 need";
    const plugin =
      "kept: the node affinity of DaemonSet kube-system/csi-cinder-nodeplugin, which does not run on nodes n1, n2";
    const objects = ["DaemonSet kube-proxy", "ConfigMap kube-proxy"];
    expect(proof({ objects, isRestricted: false, nodes })).toEqual([...whole, proxy, last]);
    expect(proof({ objects: [], isRestricted: true, nodes })).toEqual([...whole, plugin, last]);
    expect(proof({ objects, isRestricted: true, nodes })).toEqual([...whole, proxy, plugin, last]);
  });
});
