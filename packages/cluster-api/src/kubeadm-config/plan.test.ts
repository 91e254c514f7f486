import { describe, expect, test } from "vitest";
import type { Cluster, KubeadmConfig, Machine } from "@causeway/api";
import { labels } from "@causeway/api";
import { timestamp } from "@causeway/kubernetes";
import { dataSecret, tokenUntil as token } from "../testing/kubeadm-config-observed.ts";
import type { Observed } from "./observed.ts";
import { ownerFromMachine } from "./gather.ts";
import { plan } from "./plan.ts";
import { tokenLifetime } from "./token.ts";

const now = Date.UTC(2026, 0, 1);
const config: KubeadmConfig = {
  apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
  kind: "KubeadmConfig",
  metadata: { name: "w-1", namespace: "default", uid: "c" },
  spec: {},
};
const machine: Machine = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Machine",
  metadata: { name: "w-1", namespace: "default", uid: "m" },
  spec: {
    clusterName: "demo",
    bootstrap: {},
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name: "w-1" },
  },
};
const cluster: Cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "demo", namespace: "default" },
  spec: { controlPlaneEndpoint: { host: "10.0.0.5", port: 6443 } },
  status: {
    initialization: { infrastructureProvisioned: true },
    conditions: [
      { type: "ControlPlaneInitialized", status: "True", reason: "Initialized", lastTransitionTime: timestamp(now) },
    ],
  },
};
const complete: Observed = {
  config,
  owner: ownerFromMachine(machine),
  cluster,
  dataSecret: undefined,
  token: undefined,
  authority: "PEM",
  certificates: undefined,
  lock: undefined,
  secrets: new Map(),
  missingSecrets: [],
};
const withSecret = { ...complete, dataSecret };
const joined = { ...ownerFromMachine(machine), hasJoined: true };
const pool = { ...ownerFromMachine(machine), kind: "MachinePool", name: "pool" } as const;
const expires = now + tokenLifetime;

describe("the plan of a KubeadmConfig", () => {
  test.each<[string, Observed, object[]]>([
    ["creates the data Secret first, with a token in it", complete, [{ type: "create-data-secret" }]],
    ["makes the token known to the workload cluster after the Secret", withSecret, [{ type: "create-token", expires }]],
    ["leaves a token with time left alone", { ...withSecret, token: token(expires) }, []],
    [
      "prolongs a token that runs out while the machine boots",
      { ...withSecret, token: token(now + tokenLifetime / 2) },
      [{ type: "extend-token", name: "bootstrap-token-abcdef", expires }],
    ],
    [
      "replaces the token of a pool once half of its life is over",
      { ...withSecret, owner: pool, token: token(now + tokenLifetime / 2 - 1) },
      [{ type: "rotate-token" }],
    ],
    [
      "keeps the token of a pool until half of its life is over",
      { ...withSecret, owner: pool, token: token(now + tokenLifetime / 2 + 1) },
      [],
    ],
    [
      "deletes the token of a machine that has joined",
      { ...withSecret, owner: joined, token: token(expires) },
      [{ type: "delete-token", name: "bootstrap-token-abcdef" }],
    ],
    ["does nothing more once the token is deleted", { ...withSecret, owner: joined }, []],
    [
      "makes nothing before the control plane answers",
      { ...complete, cluster: { ...cluster, status: { initialization: { infrastructureProvisioned: true } } } },
      [],
    ],
    ["makes nothing without the cluster's certificates", { ...complete, authority: undefined }, []],
    ["makes nothing while the workload cluster is out of reach", { ...complete, token: "unreachable" }, []],
    [
      "makes nothing for a paused cluster",
      { ...complete, cluster: { ...cluster, spec: { ...cluster.spec, paused: true } } },
      [],
    ],
    [
      "does not touch a Secret of another owner",
      { ...complete, dataSecret: { ...dataSecret, metadata: { name: "w-1" } } },
      [],
    ],
  ])("%s", (_, observed, steps) => expect(plan(observed, now).steps).toEqual(steps));
});

describe("the status of a KubeadmConfig", () => {
  const available = (observed: Observed) =>
    plan(observed, now).status.conditions?.find(({ type }) => type === "DataSecretAvailable");
  test("names the Secret once the token is known", () => {
    const { status, steps } = plan({ ...withSecret, token: token(expires) }, now);
    expect(steps).toEqual([]);
    expect(status).toMatchObject({ dataSecretName: "w-1", initialization: { dataSecretCreated: true } });
  });
  test("names the Secrets of external etcd that it waits for", () => {
    const external = { endpoints: ["https://e"], caFile: "c", certFile: "c", keyFile: "k" };
    const owner = { ...complete.owner, isControlPlane: true } as Observed["owner"];
    const observed = {
      ...complete,
      owner,
      config: { ...config, spec: { clusterConfiguration: { etcd: { external } } } },
    };
    const found = available(observed);
    expect(found).toMatchObject({ status: "False", reason: "WaitingForCertificates" });
    expect(found?.message).toContain("demo-etcd, demo-apiserver-etcd-client");
  });
  test("names a missing Secret", () => {
    expect(available({ ...complete, missingSecrets: ["s/file"] })?.message).toContain("s/file");
  });
  test("is planned again before the token expires", () => {
    const { wait } = plan({ ...withSecret, token: token(expires) }, now);
    expect(wait?.until).toBe(now + tokenLifetime / 3);
  });
});

describe("the first machine of a control plane", () => {
  const metadata = { ...machine.metadata, labels: { [labels.controlPlane]: "" } };
  const owner = ownerFromMachine({ ...machine, metadata });
  const pair = { certificate: "PEM", key: "PEM" };
  const first: Observed = {
    ...complete,
    owner,
    cluster: { ...cluster, status: { initialization: { infrastructureProvisioned: true } } },
    certificates: { ca: pair, etcd: pair, proxy: pair, sa: pair },
    token: "unreachable",
  };
  const lock = (holder: string, isHeld = true) => ({ uid: "l", holder, isHeld });
  test.each<[title: string, given: Observed, steps: object[]]>([
    ["takes the lock", first, [{ type: "acquire-lock" }]],
    ["gets its data with the lock", { ...first, lock: lock("w-1") }, [{ type: "create-data-secret" }]],
    ["waits while another machine has it", { ...first, lock: lock("w-2") }, []],
    [
      "frees it from a machine that is gone",
      { ...first, lock: lock("w-2", false) },
      [{ type: "release-lock", uid: "l" }],
    ],
    ["waits for the certificates", { ...first, certificates: undefined }, []],
    ["needs no token", { ...first, dataSecret: { ...dataSecret, data: { value: "" } } }, []],
    [
      "frees the lock once it has joined and the control plane is there",
      { ...first, cluster, owner: { ...owner, hasJoined: true }, dataSecret, lock: lock("w-1") },
      [{ type: "release-lock", uid: "l" }],
    ],
    ["joins a control plane that is there", { ...first, cluster, token: undefined }, [{ type: "create-data-secret" }]],
  ])("%s", (_title, given, steps) => {
    expect(plan(given, now).steps).toEqual(steps);
  });

  test("leaves its token alone while no control plane can be reached, and is planned again when one can", () => {
    const { steps, wait } = plan({ ...first, dataSecret }, now);
    expect([steps, wait]).toEqual([[], { for: "the machine to join" }]);
  });
});
