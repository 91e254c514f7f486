import { describe, expect, test } from "vitest";
import type { GroupImage } from "../inventory/images.ts";
import type { Resource } from "../inventory/model.ts";
import { inventory, member, outcome, record, retired } from "../testing/planned.ts";
import { planAdopt, type AdoptFacts } from "./adopt/plan.ts";
import { planImport, type ImportFacts } from "./import/plan.ts";
import { leftoversOf, planRetire, type RetireFacts } from "./retire/plan.ts";
import { planSwitch, splitAddress, type SwitchFacts } from "./switch/plan.ts";

const imageOf = (os_distro: string | undefined, more: object = {}): GroupImage => ({
  ident: "i",
  found: [{ id: "i", name: "image", status: "active", ...(os_distro === undefined ? {} : { os_distro }), ...more }],
  groups: ["g"],
});

describe("the phase import", () => {
  const peerURL = "https://192.0.2.1:2380";
  const own = { id: "9", name: "hosted", peerURLs: [peerURL], isLearner: false };
  const imported: ImportFacts = {
    secrets: { ca: true, proxy: true, sa: true, etcd: true },
    hasCaKey: true,
    hasObjects: true,
    peerURL,
    wantedStage: "Follow",
    stage: "Follow",
    members: [{ id: "1", name: "m0", peerURLs: ["https://10.0.0.4:2380"], isLearner: false }, own],
    etcdVersion: "3.6.0",
    peerHost: "192.0.2.1",
    isLoopback: false,
    elsewhere: ["10.0.0.4"],
    problem: undefined,
  };
  const others = imported.members.slice(0, 1);
  test.for<[string, Partial<ImportFacts>, string]>([
    [
      "is refused without the CA's key, before it creates anything",
      { secrets: { ca: false, proxy: false, sa: false, etcd: false }, hasCaKey: false, hasObjects: false },
      "MIGRATE_KEY_MISSING",
    ],
    ["takes the keys first", { secrets: { ca: false, proxy: true, sa: true, etcd: false } }, "write-roots"],
    [
      "refuses an address of this machine alone for masters that are on others",
      { hasObjects: false, peerURL: undefined, peerHost: "127.0.0.1", isLoopback: true },
      "MIGRATE_PEER_HOST",
    ],
    [
      "takes it where the masters are on this machine",
      { hasObjects: false, peerURL: undefined, peerHost: "127.0.0.1", isLoopback: true, elsewhere: [] },
      "create-objects",
    ],
    ["makes objects with them", { hasObjects: false, peerURL: undefined }, "create-objects"],
    ["waits for ports", { peerURL: undefined }, "wait"],
    ["waits for a controller that will try again", { peerURL: undefined, problem: "disk full" }, "wait"],
    [
      "refuses a management cluster without a runtime that can join",
      { peerURL: undefined, problem: "the embedded runtime has no etcd that could join another (RUNTIME_CANNOT_JOIN)" },
      "MIGRATE_RUNTIME",
    ],
    [
      "has certificates signed before it becomes a member",
      { secrets: { ca: true, proxy: true, sa: true, etcd: false }, members: others },
      "sign-etcd",
    ],
    ["is added as a learner before it starts", { members: others, wantedStage: "Reserve" }, "add-member"],
    [
      "starts once it is a member",
      { members: [...others, { ...own, name: "", isLearner: true }], wantedStage: "Reserve" },
      "follow",
    ],
    ["waits until it has started", { members: [...others, { ...own, name: "", isLearner: true }] }, "wait"],
    ["votes at last", { members: [...others, { ...own, isLearner: true }] }, "promote"],
    ["is done when it votes", {}, "done"],
  ])("%s", ([, changes, expected]) => expect(outcome(planImport({ ...imported, ...changes }, record))).toBe(expected));
});

describe("the phase switch", () => {
  const switched: SwitchFacts = {
    wantedStage: "Serve",
    isAvailable: true,
    message: "",
    apiAddress: "192.0.2.1:40001",
    uid: "x",
    hostedUid: "x",
    kubelets: [],
    services: [],
    acceptsUnreachable: false,
    isPoolBusy: false,
    members: [member("causeway-web-1", "192.0.2.1", 40001)],
    masters: [{ name: "m0", address: "10.0.0.4", active: [] }],
    hasEndpoints: true,
    leases: [{ name: "kube-scheduler", holder: "h", isFresh: true }],
  };
  const old = member("m0", "10.0.0.4");
  const policy = {
    namespace: "policy",
    name: "hook",
    port: 443,
    users: ["webhook a.example.org of ValidatingWebhookConfiguration policy"],
    problem: "dial tcp 10.100.0.9:8443: i/o timeout",
    isUnreachable: false,
  };
  const [own] = switched.members as [SwitchFacts["members"][number]];
  test.for<[string, Partial<SwitchFacts>, string]>([
    ["starts the hosted API", { wantedStage: "Follow" }, "serve"],
    ["waits until it is available", { isAvailable: false }, "wait"],
    ["refuses an API of other data", { hostedUid: "y" }, "MIGRATE_OTHER_CLUSTER"],
    [
      "is refused before anything is switched while logs and exec would not work",
      { members: [old], kubelets: [{ node: "n0", problem: "connection refused", isUnreachable: false }] },
      "MIGRATE_KUBELET_UNREACHABLE",
    ],
    [
      "does not ask for more than the masters can do",
      { members: [old], kubelets: [{ node: "n0", problem: "connection refused", isUnreachable: true }] },
      "add-pool-member",
    ],
    [
      "is refused before anything is switched while a webhook or an aggregated API would fail",
      { members: [old], services: [policy] },
      "MIGRATE_SERVICE_UNREACHABLE",
    ],
    [
      "does not wait for one that fails by the masters, too",
      { members: [old], services: [{ ...policy, isUnreachable: true }] },
      "add-pool-member",
    ],
    [
      "accepts that webhooks will fail when its operator does",
      { members: [old], services: [policy], acceptsUnreachable: true },
      "add-pool-member",
    ],
    ["waits for a load balancer that is changed", { isPoolBusy: true, members: [old] }, "wait"],
    ["adds its own member before it removes others", { members: [old] }, "add-pool-member"],
    ["keeps the masters until its own member is ready", { members: [old, { ...own, isReady: false }] }, "wait"],
    ["removes masters from the pool", { members: [old, own] }, "remove-pool-member"],
    [
      "stops masters only when no client is led there",
      { masters: [{ name: "m0", address: "a", active: ["kube-apiserver"] }] },
      "stop-control-plane",
    ],
    ["leads pods to the load balancer", { hasEndpoints: false }, "write-endpoints"],
    ["waits for the leases", { leases: [{ name: "kube-scheduler", holder: "h", isFresh: false }] }, "wait"],
    ["is done then", {}, "done"],
  ])("%s", ([, changes, expected]) => expect(outcome(planSwitch({ ...switched, ...changes }, record))).toBe(expected));

  test("names webhooks and APIServices that would fail, as a refusal or as a note", () => {
    const services = Array.from({ length: 7 }, (_, index) => ({ ...policy, name: `hook-${index}` }));
    const facts = { ...switched, members: [old], services };
    const message = planSwitch(facts, record).refused?.message;
    expect(message).toContain(
      "7 Services of webhooks and APIServices that the masters reach: Service policy/hook-0:443 of webhook a.example.org of ValidatingWebhookConfiguration policy: dial tcp",
    );
    expect(message).toMatch(/hook-4:443.*; and 2 more$/);
    expect(planSwitch({ ...facts, acceptsUnreachable: true }, record).notes).toEqual([message]);
  });

  test("addresses of version 6 lose their brackets", () => {
    expect(splitAddress("[2001:db8::1]:6443")).toEqual({ host: "2001:db8::1", port: 6443 });
  });
});

describe("the phase adopt", () => {
  const writer = { kind: "DaemonSet", name: "openstack-cloud-controller-manager", isOurs: false } as const;
  const unwritten = [{ kind: "Machine", name: "n0", isThere: false }];
  const adopted: AdoptFacts = {
    writers: [{ ...writer, state: "stopped" }],
    images: [],
    hasImage: true,
    wanted: [{ kind: "Machine", name: "n0", isThere: true }],
    machines: [{ name: "n0", serverId: "id-n0", node: "n0", isProvisioned: true, problem: undefined }],
    servers: ["id-n0"],
  };
  test.for<[string, Partial<AdoptFacts>, string]>([
    [
      "stops what writes to the cloud before Causeway's controllers have a cluster",
      { writers: [{ ...writer, state: "running" }], wanted: unwritten },
      "stop-workload",
    ],
    [
      "creates nothing while a pod that writes to the cloud is there",
      { writers: [{ ...writer, state: "stopping" }], wanted: unwritten },
      "wait",
    ],
    ["has new nodes made of the image that was named", { hasImage: false }, "set-image"],
    ["creates what is missing", { wanted: [{ kind: "Machine", name: "n0", isThere: false }] }, "create"],
    ["refuses to replace a server that is gone", { servers: [] }, "MIGRATE_SERVER_GONE"],
    [
      "waits for a Machine's Node",
      { machines: [{ name: "n0", serverId: "id-n0", node: undefined, isProvisioned: true, problem: undefined }] },
      "wait",
    ],
    ["is done when each has one", {}, "done"],
  ])("%s", ([, changes, expected]) => expect(outcome(planAdopt({ ...adopted, ...changes }, record))).toBe(expected));

  test("shows what it stops before what it creates", () => {
    const writers = [{ ...writer, state: "running" }] as const;
    const plan = planAdopt({ ...adopted, writers, wanted: unwritten }, record);
    expect(plan.steps.map(({ what }) => what)).toEqual([
      "stop DaemonSet kube-system/openstack-cloud-controller-manager: Causeway's controllers write to the cloud from here on",
      "create Machine n0",
    ]);
    expect(plan.batch).toBe(1);
  });

  test("says that roll will be refused with the image that Heat's nodes have, and continues", () => {
    const plan = planAdopt({ ...adopted, hasImage: false, images: [imageOf("fedora-coreos")] }, record);
    expect(plan.notes?.join()).toMatch(/node group g: .*MIGRATE_NODE_IMAGE_UNFIT.*--node-image/);
    expect(outcome(plan)).toBe("set-image");
  });
});

describe("the phase retire", () => {
  const secret = { kind: "Secret", name: "cinder-csi-cloud-config" } as const;
  const driver = (changes: Partial<RetireFacts["driver"]>) => ({ driver: { ...retired.driver, ...changes } });
  const row = { trustId: "t", trusteeId: "u", certificates: [] };
  const magnum = (changes: Partial<RetireFacts["magnum"]>) => ({ magnum: { ...retired.magnum, row, ...changes } });
  const enabled = { isEnabled: true };
  const disabled = { isEnabled: false };
  const balancer: Resource = { name: "loadbalancer", type: "OS::Octavia::LoadBalancer", id: "2", parent: "etcd_lb" };
  const group: Resource = { name: "secgroup_kube_master", type: "OS::Neutron::SecurityGroup", id: "3", parent: "0" };
  const server: Resource = { name: "kube-master", type: "OS::Nova::Server", id: "1", parent: "0" };
  test.for<[string, Partial<RetireFacts>, string]>([
    ["abandons stacks before anything is deleted", { stacks: inventory.stacks, leftovers: [server] }, "abandon"],
    [
      "keeps the masters' members while there is no other",
      { hasHostedMember: false, oldMembers: [{ id: "1", name: "m0", peerURLs: [], isLearner: false }] },
      "MIGRATE_NO_MEMBER",
    ],
    [
      "abandons nothing while the hosted control plane has no member",
      { hasHostedMember: false, stacks: inventory.stacks },
      "MIGRATE_NO_MEMBER",
    ],
    [
      "is refused while servers of Heat's are nodes",
      { oldMachines: ["n0"], stacks: inventory.stacks },
      "MIGRATE_HEAT_MACHINES",
    ],
    [
      "removes members before their servers",
      { oldMembers: [{ id: "1", name: "m0", peerURLs: [], isLearner: false }], leftovers: [server] },
      "remove-member",
    ],
    ["waits until Heat has given up a stack", { leaving: inventory.stacks, leftovers: [server] }, "wait"],
    ["deletes what is left", { leftovers: [server] }, "delete-resource"],
    [
      "waits for a load balancer that the cloud is deleting, before what depends on it",
      { leftovers: [balancer, group], changing: new Set([balancer.id]) },
      "wait",
    ],
    [
      "deletes another load balancer meanwhile",
      { leftovers: [balancer, { ...balancer, id: "another" }, group], changing: new Set([balancer.id]) },
      "delete-resource",
    ],
    [
      "does not hand the cluster over while the cloud deletes the last resource",
      { leftovers: [group], changing: new Set([group.id]), isMigrating: true },
      "wait",
    ],
    ["hands the cluster over then", { isMigrating: true, ...magnum({ trustee: enabled }) }, "hand-over"],
    [
      "touches nothing of Magnum's before the cluster is complete",
      { status: { status: "UPDATE_FAILED", reason: "quota" }, ...magnum({ trustee: enabled }) },
      "wait",
    ],
    [
      "deletes the accounts that Heat has left of its stacks",
      { stackProjects: [{ id: "h", name: "p-s1", users: ["a"] }], ...magnum({ trustee: enabled }) },
      "delete-stack-project",
    ],
    [
      "deletes what the driver has in the cluster before the servers of masters",
      { ...driver({ objects: [secret] }), leftovers: [server] },
      "delete-driver-object",
    ],
    [
      "keeps a Secret with the trustee's password while a pod uses it",
      { ...driver({ objects: [secret], users: ["Pod kube-system/a, which uses Secret b,"] }), leftovers: [server] },
      "wait",
    ],
    [
      "deletes the driver's programs while their pods use its Secrets",
      driver({
        objects: [{ kind: "DaemonSet", name: "csi-cinder-nodeplugin" }, secret],
        users: ["Pod kube-system/a, which uses Secret b,"],
      }),
      "delete-driver-object",
    ],
    [
      "keeps the trustee while a pod has its password",
      { ...driver({ users: ["Pod kube-system/a, which uses Secret b,"] }), ...magnum({ trustee: enabled }) },
      "wait",
    ],
    [
      "keeps the trustee while another Secret names it",
      { ...driver({ others: ["Secret kube-system/own"] }), ...magnum({ trustee: enabled }) },
      "wait",
    ],
    [
      "does not wait for a Secret that names a trustee which it may not delete",
      { ...driver({ others: ["Secret kube-system/own"] }), ...magnum({ trustee: "unknown" }) },
      "done",
    ],
    ["disables the trustee before it deletes it", magnum({ trustee: enabled }), "disable-trustee"],
    ["sees every node live without the trustee", magnum({ trustee: disabled, silentNodes: ["n0"] }), "wait"],
    ["deletes a trustee that nothing used", magnum({ trustee: disabled }), "delete-trustee"],
    ["deletes the row when the trustee is gone", magnum({}), "delete-row"],
    ["keeps a row whose trustee it may not delete", magnum({ trustee: "unknown" }), "done"],
    ["keeps a row that it may not read", magnum({ row: "unknown" }), "done"],
    ["is done then", {}, "done"],
  ])("%s", ([, changes, expected]) => expect(outcome(planRetire({ ...retired, ...changes }, record))).toBe(expected));

  test("shows every step before the first is done, with what Magnum has last", () => {
    const old = { id: "1", name: "m0", peerURLs: [], isLearner: false };
    const facts = {
      ...retired,
      stacks: inventory.stacks,
      oldMembers: [old],
      masterNodes: ["m0"],
      leftovers: [server],
      isMigrating: true,
      ...magnum({ trustee: enabled }),
    };
    expect(planRetire(facts, record).steps.map(({ type }) => type)).toEqual([
      "abandon",
      "abandon",
      "remove-member",
      "delete-node",
      "delete-resource",
      "hand-over",
      "disable-trustee",
      "delete-trustee",
      "delete-row",
    ]);
    expect(planRetire(facts, record).steps[0]).toMatchObject({ stack: { id: "s2" } });
  });

  test("says what of Magnum is left, and what its deletion would do", () => {
    const proofOf = (changes: Partial<RetireFacts["magnum"]>) =>
      planRetire({ ...retired, ...magnum(changes) }, record).proof.at(-1);
    expect(proofOf({ row: "unknown" })).toMatch(/--magnum-sql.*do not delete cluster u by the old Magnum/);
    expect(planRetire({ ...retired, stackProjects: "unknown" }, record).proof.join()).toMatch(
      /accounts.*--admin-cloud/,
    );
    expect(proofOf({ trustee: "unknown" })).toMatch(/trustee u .*--admin-cloud/);
    expect(proofOf({ row: undefined })).toMatch(/no row/);
  });

  test("lists Secrets with the driver's names that it keeps, and why", () => {
    const kept = driver({ kept: ["Secret kube-system/os-trustee"] });
    const proofOf = (changes: Partial<RetireFacts>) => planRetire({ ...retired, ...kept, ...changes }, record).proof;
    expect(proofOf(magnum({ trustee: "unknown" }))).toContain(
      "kept: Secret kube-system/os-trustee, which does not name Magnum's trustee",
    );
    expect(proofOf({}).join()).toContain("os-trustee, which is not known to name Magnum's trustee");
    expect(proofOf(magnum({ row: "unknown" })).join()).toMatch(/left: Secret kube-system\/os-trustee.*--magnum-sql/);
  });

  const of = (name: string, type: string, parent = ""): Resource => ({ name, type, id: name, parent });
  test("of a cluster's resources, those of masters and free ones of workers are deleted, servers first; what is shared or in use is kept", () => {
    const resources = [
      of("private_network", "OS::Neutron::Net"),
      of("extrouter", "OS::Neutron::Router"),
      of("loadbalancer", "OS::Octavia::LoadBalancer", "api_lb"),
      of("loadbalancer", "OS::Octavia::LoadBalancer", "etcd_lb"),
      of("secgroup_kube_minion", "OS::Neutron::SecurityGroup"),
      of("secgroup_kube_master", "OS::Neutron::SecurityGroup"),
      of("kube_master_eth0", "OS::Neutron::Port"),
      of("kube-minion", "OS::Nova::Server"),
      of("kube-master", "OS::Nova::Server"),
      { ...of("docker_volume", "OS::Cinder::Volume"), id: "in-use" },
      { ...of("docker_volume", "OS::Cinder::Volume"), id: "free" },
    ];
    const found = leftoversOf(
      { resources },
      () => true,
      ({ id }) => id === "free",
    );
    expect(found.map(({ name, parent, id }) => `${name} ${parent || id}`)).toEqual([
      "kube-master kube-master",
      "loadbalancer etcd_lb",
      "kube_master_eth0 kube_master_eth0",
      "docker_volume free",
      "secgroup_kube_master secgroup_kube_master",
    ]);
    expect(
      leftoversOf(
        { resources },
        () => false,
        () => true,
      ),
    ).toEqual([]);
  });
});
