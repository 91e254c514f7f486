import { describe, expect, test } from "vitest";
import type { Cluster, KubeadmConfig } from "@causeway/api";
import { getCondition, timestamp } from "@causeway/kubernetes";
import { cluster as clusterOf, condition, now } from "../testing/objects.ts";
import { dataSecret, tokenUntil } from "../testing/kubeadm-config-observed.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";
import { tokenLifetime } from "./token.ts";

const config = (spec: object = {}, metadata: object = {}, status?: object): KubeadmConfig =>
  ({
    apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
    kind: "KubeadmConfig",
    metadata: { name: "w-1", namespace: "default", uid: "c", generation: 3, ...metadata },
    spec,
    ...(status && { status }),
  }) as KubeadmConfig;
const cluster = (fields: Partial<Cluster> = {}): Cluster =>
  clusterOf({
    spec: { controlPlaneEndpoint: { host: "10.0.0.5", port: 6443 } },
    status: { initialization: { infrastructureProvisioned: true }, conditions: [condition("ControlPlaneInitialized")] },
    ...fields,
  });
const owner = (more: object = {}) =>
  ({ kind: "Machine", name: "w-1", clusterName: "demo", isControlPlane: false, hasJoined: false, ...more }) as never;
const observed = (more: Partial<Observed> = {}): Observed => ({
  config: config(),
  owner: owner(),
  cluster: cluster(),
  dataSecret: undefined,
  token: undefined,
  authority: "PEM",
  certificates: undefined,
  lock: undefined,
  secrets: new Map(),
  missingSecrets: [],
  ...more,
});
const uninitialized = cluster({ status: { initialization: { infrastructureProvisioned: true } } });
const first = { cluster: uninitialized, owner: owner({ isControlPlane: true }), certificates: {} as never };
const token = (left: number) => tokenUntil(now + left);

describe("a KubeadmConfig waits", () => {
  const template = config({ files: [{ path: "/a", contentFormat: "Template" }] });
  test.each<[string, Partial<Observed>, string, string, boolean]>([
    [
      "for its owner",
      { owner: undefined },
      "WaitingForMachine",
      "Waiting for a Machine or MachinePool to own this KubeadmConfig",
      false,
    ],
    ["for its Cluster", { cluster: undefined }, "WaitingForCluster", "Cluster demo does not exist", false],
    [
      "for infrastructure",
      { cluster: cluster({ status: { conditions: [condition("ControlPlaneInitialized")] } }) },
      "WaitingForClusterInfrastructureReady",
      "Waiting for the cluster's infrastructure",
      false,
    ],
    [
      "for the control plane",
      { cluster: uninitialized },
      "WaitingForControlPlaneInitialized",
      "Waiting for the control plane to be initialized",
      false,
    ],
    ...[{}, { host: "a" }, { port: 1 }].map(
      (controlPlaneEndpoint): [string, Partial<Observed>, string, string, boolean] => [
        `for an endpoint in place of ${JSON.stringify(controlPlaneEndpoint)}`,
        { cluster: cluster({ spec: { controlPlaneEndpoint } as never }) },
        "WaitingForEndpoint",
        "Waiting for the Cluster's spec.controlPlaneEndpoint",
        false,
      ],
    ),
    [
      "for the authority",
      { authority: undefined },
      "WaitingForCertificates",
      "Waiting for Secret demo-ca with tls.crt",
      false,
    ],
    [
      "for certificates",
      { ...first, certificates: undefined },
      "WaitingForCertificates",
      "Waiting for tls.crt and tls.key in Secrets demo-ca, demo-etcd, demo-proxy, demo-sa",
      false,
    ],
    [
      "for values of Secrets",
      { missingSecrets: ["a/b", "c/d"] },
      "WaitingForSecrets",
      "These Secret values do not exist: a/b, c/d",
      false,
    ],
    [
      "for a connection",
      { token: "unreachable" },
      "WaitingForConnection",
      "The workload cluster cannot be reached",
      false,
    ],
    [
      "for the Machine that initialises the control plane",
      { ...first, lock: { holder: "other", isHeld: true, uid: "l" } },
      "WaitingForControlPlaneInitialized",
      "Machine other initialises the control plane",
      false,
    ],
    [
      "for a Secret of another owner",
      { dataSecret: { ...dataSecret, metadata: { name: "w-1" } } },
      "DataSecretForeign",
      "Secret w-1 exists and belongs to another owner, not to this KubeadmConfig",
      true,
    ],
    [
      "for its user who joins a control plane without the label",
      { config: config({ joinConfiguration: { controlPlane: {} } }) },
      "NotServed",
      "joinConfiguration.controlPlane is for Machines with the control-plane label only: remove it",
      true,
    ],
    [
      "for its user who has files of templates",
      { config: template },
      "NotServed",
      "files with contentFormat Template are not supported: use Raw",
      true,
    ],
    [
      "for its user who discovers by a kubeconfig",
      { config: config({ joinConfiguration: { discovery: { file: { kubeConfig: { user: {} } } } } }) },
      "NotServed",
      "discovery.file.kubeConfig is not supported: write the file with files, or use token discovery",
      true,
    ],
  ])("%s", (_what, more, reason, message, warns) => {
    const { steps, status, events, wait } = plan(observed(more), now);
    expect(steps).toEqual([]);
    expect(wait?.for).toBe(message);
    expect(getCondition(status.conditions, "DataSecretAvailable")).toMatchObject({ status: "False", reason, message });
    expect(getCondition(status.conditions, "Ready")).toMatchObject({ status: "False", reason: "NotReady", message });
    expect(events).toEqual(warns ? [{ type: "Warning", reason, message }] : []);
    expect(status).not.toHaveProperty("dataSecretName");
    const again = plan(observed({ ...more, config: { ...(more.config ?? config()), status } }), now);
    expect(again.events).toEqual([]);
  });

  test("half a minute for the lock, and no longer for the rest", () => {
    const held = plan(observed({ ...first, lock: { holder: "other", isHeld: true, uid: "l" } }), now);
    expect(held.wait?.until).toBe(now + 30_000);
    expect(plan(observed(), now).wait).toEqual({ for: "the machine to join" });
  });

  test("for its user with all that does not suit Ignition, up to five", () => {
    const { wait } = plan(
      observed({ config: config({ format: "ignition", ntp: { enabled: true }, users: [{ name: "a", sudo: "x" }] }) }),
      now,
    );
    expect(plan(observed({ config: config({ ntp: { enabled: true } }) }), now).wait?.for).toBe("the machine to join");
    expect(wait?.for).not.toBe("");
  });
});

describe("the steps for a KubeadmConfig", () => {
  const steps = (more: Partial<Observed>) => plan(observed(more), now).steps;
  const joined = { owner: owner({ hasJoined: true }), dataSecret };
  const pool = { owner: owner({ kind: "MachinePool" }), dataSecret };
  const expires = now + tokenLifetime;
  const deleted = config({}, { deletionTimestamp: timestamp(now), finalizers: ["x"] });
  const name = token(0).metadata.name;
  test.each<[string, Partial<Observed>, unknown[]]>([
    ["create the data Secret", {}, [{ type: "create-data-secret" }]],
    ["are none when it is deleted", { config: deleted }, []],
    ["take the lock of the first control-plane Machine", first, [{ type: "acquire-lock" }]],
    [
      "create the data Secret with the lock",
      { ...first, lock: { holder: "w-1", isHeld: true, uid: "l" } },
      [{ type: "create-data-secret" }],
    ],
    [
      "release a lock whose holder is gone",
      { ...first, lock: { holder: "x", isHeld: false, uid: "l" } },
      [{ type: "release-lock", uid: "l" }],
    ],
    ["need no lock with a data Secret", { ...first, dataSecret: { ...dataSecret, data: {} } }, []],
    ["create the token", { dataSecret }, [{ type: "create-token", expires }]],
    ["create no token that is not in the data Secret", { dataSecret: { ...dataSecret, data: {} } }, []],
    ["leave a token alone that lives long", { dataSecret, token: token((tokenLifetime * 5) / 6) }, []],
    [
      "extend a token that does not",
      { dataSecret, token: token((tokenLifetime * 5) / 6 - 1000) },
      [{ type: "extend-token", name, expires }],
    ],
    ["leave the token of a pool alone", { ...pool, token: token(tokenLifetime / 2) }, []],
    ["replace the token of a pool", { ...pool, token: token(tokenLifetime / 2 - 1000) }, [{ type: "rotate-token" }]],
    [
      "delete the token of a machine that has joined",
      { ...joined, token: token(1000) },
      [{ type: "delete-token", name }],
    ],
    ["are none without a token", joined, []],
    ["are none without a connection", { ...joined, token: "unreachable" }, []],
    [
      "release the lock once the control plane is initialized",
      { ...joined, lock: { holder: "w-1", isHeld: true, uid: "l" } },
      [{ type: "release-lock", uid: "l" }],
    ],
    [
      "keep the lock until then",
      { ...joined, cluster: uninitialized, lock: { holder: "w-1", isHeld: true, uid: "l" } },
      [],
    ],
    ["leave the lock of another alone", { ...joined, lock: { holder: "x", isHeld: true, uid: "l" } }, []],
  ])("%s", (_what, more, expected) => {
    expect(steps(more)).toEqual(expected);
  });

  test("come again when a token has to be replaced or extended", () => {
    expect(plan(observed({ ...pool, token: token(tokenLifetime) }), now).wait?.until).toBe(now + tokenLifetime / 2);
    expect(plan(observed({ dataSecret, token: token(tokenLifetime) }), now).wait?.until).toBe(now + tokenLifetime / 3);
  });
});

describe("the status of a KubeadmConfig", () => {
  test("names the data Secret once there is nothing to wait for", () => {
    const { status } = plan(observed(), now);
    expect(status).toMatchObject({
      dataSecretName: "w-1",
      initialization: { dataSecretCreated: true },
      observedGeneration: 3,
    });
    const shown = status.conditions?.map((c) => [c.type, c.status, c.reason]);
    expect(shown).toEqual([
      ["Ready", "True", "Ready"],
      ["CertificatesAvailable", "True", "Available"],
      ["DataSecretAvailable", "True", "Available"],
      ["Paused", "False", "NotPaused"],
    ]);
  });

  test("names it from then on", () => {
    const before = config({}, {}, { initialization: { dataSecretCreated: true } });
    const { status } = plan(observed({ config: before, owner: undefined }), now);
    expect(status.dataSecretName).toBe("w-1");
    expect(getCondition(status.conditions, "DataSecretAvailable")?.status).toBe("True");
  });

  test("says which authority is missing", () => {
    const certificates = (more: Partial<Observed>) =>
      getCondition(plan(observed({ authority: undefined, ...more }), now).status.conditions, "CertificatesAvailable");
    expect(certificates({})).toMatchObject({ status: "False", reason: "NotAvailable", message: "Secret demo-ca" });
    expect(certificates({ cluster: undefined })?.message).toBe("Secret CLUSTER-ca");
  });

  test("has no generation where there is none", () => {
    const { status } = plan(observed({ config: config({}, { generation: undefined }) }), now);
    expect(Object.hasOwn(status, "observedGeneration")).toBe(false);
  });

  test("is that of a pause", () => {
    const paused = config({}, { annotations: { "cluster.x-k8s.io/paused": "" } });
    expect(plan(observed({ config: paused }), now)).toMatchObject({ steps: [], wait: { for: "unpausing" } });
  });
});

describe("a KubeadmConfig in the format of Ignition", () => {
  const users = Array.from({ length: 6 }, (_, n) => ({ name: `u${n}`, inactive: true }));
  const conditionOf = (spec: object) => {
    const found = getCondition(plan(observed({ config: config(spec) }), now).status.conditions, "DataSecretAvailable");
    return `${found?.reason} ${found?.message ?? ""}`.trim();
  };
  test("is refused for what that format does not have, five of it by name", () => {
    const names = [0, 1, 2, 3, 4].map((n) => `users[${n}].inactive is for format cloud-config only`);
    expect(conditionOf({ format: "ignition", users })).toBe(`NotServed ${names.join("; ")}; and 1 more`);
  });
  test("is accepted without it, and so is all of it in the format of cloud-init", () => {
    for (const spec of [{ format: "ignition" }, { format: "cloud-config", users }, { users }])
      expect(plan(observed({ config: config(spec) }), now).steps).toEqual([{ type: "create-data-secret" }]);
  });
});

test("the token of a machine that has joined remains while the workload cluster cannot be reached", () => {
  const joined = { owner: owner({ hasJoined: true }), dataSecret };
  expect(plan(observed({ ...joined, token: "unreachable" }), now)).toMatchObject({ steps: [] });
  expect(plan(observed({ ...joined, token: token(1000) }), now).steps).toMatchObject([{ type: "delete-token" }]);
});
