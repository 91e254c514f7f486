/**
 * What the cloud controller manager may do in its cluster: the manifest that we bring is enough, and so is upstream's
 * role.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { World } from "@causeway/cloud-controller-manager/testing";
import { Node, type KubeObject, type ResourceType } from "@causeway/kubernetes";
import { parseAllDocuments } from "yaml";
import { stageFolder, stageManager, type ManagerStage } from "../../support/manager-stage.ts";
import { TIMEOUT, root } from "../../support/processes.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

const account = "system:serviceaccount:kube-system:cloud-controller-manager";
const groups = ["system:serviceaccounts", "system:serviceaccounts:kube-system"];
const rbac = "rbac.authorization.k8s.io";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

type Manifest = KubeObject & { readonly rules?: readonly Rule[] };

const manifests = parseAllDocuments(readFileSync(join(root, "deploy/cloud-controller-manager/rbac.yaml"), "utf8")).map(
  (document) => document.toJS() as Manifest,
);

const rule = (resources: string, verbs: string, group = ""): Rule => ({
  apiGroups: [group],
  resources: [resources],
  verbs: verbs.split(" "),
});

/** The rules of upstream's role for this program, as its manifests have them (v1.34.1). */
const upstream: readonly Rule[] = [
  rule("leases", "get create update", "coordination.k8s.io"),
  rule("events", "create patch update"),
  rule("nodes", "*"),
  rule("nodes/status", "patch"),
  rule("services", "list patch update watch"),
  rule("services/status", "patch"),
  rule("serviceaccounts", "create get"),
  rule("serviceaccounts/token", "create"),
  rule("persistentvolumes", "*"),
  rule("endpoints", "create get list watch update"),
  rule("configmaps", "get list watch"),
  rule("secrets", "list get watch"),
];

const upstreams: readonly Manifest[] = [
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: { name: "system:cloud-controller-manager" },
    rules: upstream,
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "system:cloud-controller-manager" },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "system:cloud-controller-manager" },
    subjects: [{ kind: "ServiceAccount", name: "cloud-controller-manager", namespace: "kube-system" }],
  } as Manifest,
];

let stage: ManagerStage;
let log: string;

beforeEach(async () => {
  const folder = stageFolder();
  log = join(folder, "audit.log");
  const policy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] };
  const server = { management: { audit: { policy, log: { file: log } } } };
  stage = await stageManager(folder, { server, identity: { commonName: account, organizations: groups } });
});
afterEach(() => stage.close());

async function apply(w: World, objects: readonly Manifest[]): Promise<void> {
  for (const object of objects) {
    const [group = "", version = ""] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : ["", "v1"];
    const plural = `${object.kind.toLowerCase()}s`;
    const namespaced = object.metadata.namespace !== undefined;
    const type: ResourceType<Manifest> = { group, version, kind: object.kind, plural, namespaced };
    await w.client.create(type, object);
  }
}

/**
 * A cluster's life: a node comes, a Service is served, changed and deleted, and a node goes whose server is gone.
 */
async function life(w: World): Promise<void> {
  await w.joinAll();
  await w.createService("web");
  await w.served("web");
  await w.change("web", { spec: { ports: [{ name: "other", port: 81, protocol: "TCP" }] } });
  await w.settled("the other port", async () => {
    const listeners = await w.cloud.loadBalancing.listeners.all();
    return listeners.some((listener) => listener.protocol_port === 81);
  });
  await w.remove("web");
  const node = { namespace: "", name: "run-node-0" };
  await w.cloud.compute.servers.delete(w.infrastructure.servers[0]?.id ?? "");
  const silent = { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown", message: "" };
  await w.client.patch(
    Node,
    node,
    { type: "strategic", body: { status: { conditions: [silent] } } },
    { subresource: "status" },
  );
  await w.until("the node's end", async () => ((await w.client.find(Node, node)) ? undefined : true));
}

/** What the manager requested, "verb resource" each, once; and what of it was refused. */
function asked(): { all: string[]; refused: string[] } {
  const all = new Set<string>();
  const refused = new Set<string>();
  // What comes after the last end of a line is still being written.
  for (const line of readFileSync(log, "utf8").split("\n").slice(0, -1)) {
    const event = JSON.parse(line) as {
      stage: string;
      verb: string;
      user: { username: string };
      objectRef?: { resource: string; subresource?: string };
      responseStatus?: { code: number };
    };
    if (event.user.username !== account || event.stage === "RequestReceived") continue;
    const { resource = "", subresource } = event.objectRef ?? {};
    const what = `${event.verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}`;
    all.add(what);
    if (event.responseStatus?.code === 403) refused.add(what);
  }
  return { all: [...all].sort(), refused: [...refused] };
}

const flags = ["--secure-port=0", "--leader-elect-retry-period=1s"];

test("the rights of deploy/cloud-controller-manager/rbac.yaml are enough, and hardly one is more than it uses", async () => {
  const { w, start } = stage;
  await apply(w, manifests);
  start(...flags);
  await life(w);
  const granted = manifests
    .flatMap((m) => m.rules ?? [])
    .flatMap((r) => r.resources.flatMap((resource) => r.verbs.map((verb) => `${verb} ${resource}`)));
  // Rarely needed: a term that is renewed, an Event of what happens again, a Node that another client changed first,
  // and Pods of kube-proxy, which follow-nodes reads.
  const rare = ["update leases", "patch events", "get nodes", "list pods"];
  // A call is recorded just after its answer.
  await expect.poll(() => granted.filter((right) => !asked().all.includes(right) && !rare.includes(right))).toEqual([]);
  expect(asked().refused).toEqual([]);
});

test("the rights that a cluster gave to openstack-cloud-controller-manager are enough", async () => {
  const { w, start } = stage;
  await apply(w, upstreams);
  start(...flags, "--use-service-account-credentials=false");
  await life(w);
  expect(asked().refused).toEqual([]);
});

test("the cloud controller without rights logs which it lacks", async () => {
  const manager = stage.start("--secure-port=0", "--leader-elect=false");
  await manager.until(/cannot list resource \\?"nodes\\?"/);
});
