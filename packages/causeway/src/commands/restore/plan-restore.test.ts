import type { Cluster, HostedControlPlane } from "@causeway/api";
import { describe, expect, test } from "vitest";
import { planRestore, type RestoreInput, type RestoreSource } from "./plan-restore.ts";

const input = (changes: Partial<RestoreInput> = {}): RestoreInput => ({
  key: { namespace: "tenants", name: "copy" },
  from: "web",
  withCloud: false,
  ...changes,
});
const network = {
  services: { cidrBlocks: ["10.97.0.0/16"] },
  pods: { cidrBlocks: ["10.98.0.0/16"] },
  serviceDomain: "x",
};
const source: RestoreSource = {
  object: {
    metadata: { namespace: "tenants", name: "web", uid: "uid-1" },
    spec: {
      version: "v1.34.4",
      runtime: "Pods",
      replicas: 0,
      endpoint: { host: "192.0.2.1" },
      limits: { bytes: 2 ** 28 },
      backup: { keepDays: 3 },
      authorities: { rotateAfter: "2026-01-01T00:00:00Z" },
      pods: { size: "Medium", cloudConfigSecret: "web-cloud" },
    },
    status: {
      version: "v1.34.1",
      backup: {
        folder: "tenants/web/uid-1",
        points: 9,
        oldest: "2026-01-01T00:00:00Z",
        newest: "2026-01-09T00:00:00Z",
      },
    },
  } as HostedControlPlane,
  cluster: { spec: { clusterNetwork: network } } as Cluster,
};
const gone: RestoreSource = { object: undefined, cluster: undefined };

describe("a restored control plane", () => {
  test("has the settings of the old one, but not its place, rotation and cloud", () => {
    const { cluster, controlPlane } = planRestore(input({ at: "2026-01-02T03:00:00Z" }), source);
    expect(controlPlane.spec).toEqual({
      version: "v1.34.1",
      runtime: "Pods",
      replicas: 1,
      limits: { bytes: 2 ** 28 },
      backup: { keepDays: 3 },
      pods: { size: "Medium" },
      restore: { from: "web/uid-1", at: "2026-01-02T03:00:00.000Z" },
    });
    expect(cluster.spec.clusterNetwork).toEqual(network);
    expect(cluster.spec.controlPlaneRef?.name).toBe("copy");
  });

  test.each<[string, Partial<RestoreInput>, RestoreSource, object]>([
    [
      "the cloud of the old one, if so requested",
      { withCloud: true },
      source,
      { pods: { cloudConfigSecret: "web-cloud" } },
    ],
    ["another endpoint", { endpoint: "192.0.2.9" }, source, { endpoint: { host: "192.0.2.9" } }],
    ["another runtime", { runtime: "Process" }, source, { runtime: "Process", limits: { bytes: 2 ** 28 } }],
    [
      "what the options say, when the old one is gone",
      { from: "web/uid-1", kubernetesVersion: "v1.34.4", runtime: "Pods" },
      gone,
      { version: "v1.34.4", restore: { from: "web/uid-1" } },
    ],
    [
      "nothing of a new one that has the old one's name",
      { from: "web/uid-0", kubernetesVersion: "v1.33.0", runtime: "Process" },
      source,
      { version: "v1.33.0", runtime: "Process", restore: { from: "web/uid-0" } },
    ],
  ])("has %s", (_, changes, from, expected) => {
    const { controlPlane } = planRestore(input(changes), from);
    expect(controlPlane.spec).toMatchObject(expected);
    if (changes.runtime === "Process") expect(controlPlane.spec).not.toHaveProperty("pods");
  });

  test("has the networks of the options, and default ones without the old one", () => {
    const changes = { from: "web/uid-1", kubernetesVersion: "v1.34.4", runtime: "Pods" } as const;
    const { cluster } = planRestore(input({ ...changes, serviceCidr: "10.50.0.0/16" }), gone);
    expect(cluster.spec.clusterNetwork).toEqual({
      services: { cidrBlocks: ["10.50.0.0/16"] },
      pods: { cidrBlocks: ["10.244.0.0/16"] },
    });
  });

  test.each<[string, Partial<RestoreInput>, RestoreSource, string]>([
    ["a name that is none of a cluster", { key: { namespace: "a", name: "1" } }, source, "CLUSTER_NAME_INVALID"],
    ["another namespace", { from: "other/web/uid" }, source, "FLAG_INVALID"],
    ["a time that is none", { at: "yesterday" }, source, "FLAG_INVALID"],
    ["a day without a time", { at: "2026-01-02" }, source, "FLAG_INVALID"],
    ["a time before the oldest backup", { at: "2025-12-31T23:00:00Z" }, source, "BACKUP_POINT_MISSING"],
    ["a network that is none", { podCidr: "10.0.0.0" }, source, "FLAG_INVALID"],
    ["one that does not exist, by its name", {}, gone, "RESTORE_NOT_POSSIBLE"],
    ["one that does not exist, without a version", { from: "web/uid-1" }, gone, "RESTORE_NOT_POSSIBLE"],
    [
      "one that was never backed up",
      {},
      { ...source, object: { ...source.object, status: {} } as HostedControlPlane },
      "RESTORE_NOT_POSSIBLE",
    ],
  ])("is refused with %s", (_, changes, from, code) => {
    expect(() => planRestore(input(changes), from)).toThrow(expect.objectContaining({ code }) as Error);
  });

  const named = { from: "web/uid-1", kubernetesVersion: "v1.34.4", runtime: "Pods" } as const;
  const sourceWith = (spec: object, status: object = {}): RestoreSource => {
    const object = source.object as HostedControlPlane;
    const changed = { ...object, spec: { ...object.spec, ...spec }, status: { ...object.status, ...status } };
    return { ...source, object: changed as HostedControlPlane };
  };

  test("is a Cluster and a control plane of one name, which belong together", () => {
    const { cluster, controlPlane } = planRestore(input(named), gone);
    const key = { namespace: "tenants", name: "copy" };
    const apiGroup = "controlplane.cluster.x-k8s.io";
    expect(cluster).toEqual({
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: key,
      spec: {
        clusterNetwork: { services: { cidrBlocks: ["10.96.0.0/12"] }, pods: { cidrBlocks: ["10.244.0.0/16"] } },
        controlPlaneRef: { apiGroup, kind: "HostedControlPlane", name: "copy" },
      },
    });
    expect(controlPlane).toEqual({
      apiVersion: `${apiGroup}/v1alpha1`,
      kind: "HostedControlPlane",
      metadata: { ...key, labels: { "cluster.x-k8s.io/cluster-name": "copy" } },
      spec: { version: "v1.34.4", runtime: "Pods", restore: { from: "web/uid-1" } },
    });
  });

  test("has all settings of the old one that are its own", () => {
    const settings = {
      authentication: { anonymous: false },
      flags: { apiServer: {} },
      brokenWebhooks: "Ignore",
      replicas: 3,
    };
    expect(planRestore(input(), sourceWith(settings)).controlPlane.spec).toMatchObject(settings);
    const bare = { limits: undefined, backup: undefined, replicas: undefined, pods: undefined };
    expect(planRestore(input(), sourceWith(bare)).controlPlane.spec).toEqual({
      version: "v1.34.1",
      runtime: "Pods",
      restore: { from: "web/uid-1" },
    });
    expect(
      planRestore(input({ withCloud: true }), sourceWith({ pods: { size: "Small" } })).controlPlane.spec.pods,
    ).toEqual({
      size: "Small",
    });
  });

  test("has neither replicas nor pods in a process", () => {
    const { spec } = planRestore(input({ runtime: "Process" }), source).controlPlane;
    expect(spec).not.toHaveProperty("replicas");
    expect(spec).not.toHaveProperty("pods");
  });

  test("has the version and the runtime of the options first, then those that the old one had last", () => {
    const of = (changes: Partial<RestoreInput>, from: RestoreSource) => {
      const { version, runtime } = planRestore(input(changes), from).controlPlane.spec;
      return [version, runtime];
    };
    expect(of({ kubernetesVersion: "v1.35.0" }, source)).toEqual(["v1.35.0", "Pods"]);
    expect(of({}, sourceWith({}, { version: undefined }))).toEqual(["v1.34.4", "Pods"]);
    expect(of({}, sourceWith({}, { runtime: "Process" }))).toEqual(["v1.34.1", "Process"]);
    expect(() => of({}, sourceWith({ runtime: "Embedded" }))).toThrow(/version and runtime are not known/);
  });

  test("has the network of the options in place of the old one's", () => {
    const { cluster } = planRestore(input({ podCidr: "10.50.0.0/16" }), source);
    expect(cluster.spec.clusterNetwork).toEqual({ ...network, pods: { cidrBlocks: ["10.50.0.0/16"] } });
    const renamed = planRestore(input({ ...named, from: "web/uid-0" }), source).cluster;
    expect(renamed.spec.clusterNetwork).not.toHaveProperty("serviceDomain");
  });

  const oldest = "2026-01-01T00:00:00Z";
  test.each([
    [oldest, true],
    ["2025-12-31T23:59:59.001Z", true],
    ["2025-12-31T23:59:59Z", false],
    ["2026-01-01T01:00:00+01:00", true],
  ])("may be of %s, where the oldest backup is of a whole second: %s", (at, isPossible) => {
    const restore = () => planRestore(input({ at }), source);
    if (isPossible) expect(restore).not.toThrow();
    else expect(restore).toThrow(`the oldest backup is from ${oldest}: there is none from ${at}`);
    expect(() => planRestore(input({ at }), sourceWith({}, { backup: { folder: "tenants/web/uid-1" } }))).not.toThrow();
  });

  test.each<[string, Partial<RestoreInput>, boolean]>([
    ["52 letters", { key: { namespace: "a", name: "a".repeat(52) } }, true],
    ["53 letters", { key: { namespace: "a", name: "a".repeat(53) } }, false],
    ["a from of 300 letters", { ...named, from: `${"a".repeat(296)}/uid` }, true],
    ["a from of 301 letters", { ...named, from: `${"a".repeat(297)}/uid` }, false],
    ["a month that is none", { at: "2026-13-01T00:00:00Z" }, false],
    ["a network of services that is none", { serviceCidr: "x" }, false],
  ])("is possible with %s: %j %s", (_title, changes, isPossible) => {
    const restore = () => planRestore(input(changes), source);
    if (isPossible) expect(restore).not.toThrow();
    else expect(restore).toThrow();
  });

  test.each<[string, Partial<RestoreInput>, RestoreSource, string]>([
    [
      "web cannot be restored: there is no hosted control plane web in namespace tenants",
      {},
      gone,
      "One that was deleted is named NAME/UID: causeway backup list NAMESPACE/NAME --backup-cloud … has it. It is restored in a namespace of the same name.",
    ],
    [
      "web cannot be restored: it was never backed up",
      {},
      sourceWith({}, { backup: undefined }),
      "spec.backup has it backed up. Embedded control planes are restored by `causeway restore FILE`, all of them.",
    ],
    [
      "web/uid-1 cannot be restored: it does not exist any more, so that its version and runtime are not known",
      { from: "web/uid-1", runtime: "Pods" },
      gone,
      "Specify --kubernetes-version, --runtime, and --service-cidr and --pod-cidr where they were not the defaults.",
    ],
    [
      '"1" cannot name a cluster',
      { key: { namespace: "a", name: "1" } },
      source,
      "Begin with a lower-case letter; use letters, digits and '-', at most 52.",
    ],
    [
      "the oldest backup is from 2026-01-01T00:00:00Z",
      { at: "2025-01-01T00:00:00Z" },
      source,
      "Restore to it or later: causeway backup list.",
    ],
  ])("is refused with what can be done: %s", (message, changes, from, hint) => {
    expect(() => planRestore(input(changes), from)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message) as string, hint }) as Error,
    );
  });

  test.each<[string, Partial<RestoreInput>]>([
    [
      "--from: other/web/uid is not NAME or NAME/UID of a control plane in namespace tenants",
      { from: "other/web/uid" },
    ],
    ["--at: yesterday is not a time, such as 2026-01-02T03:00:00Z", { at: "yesterday" }],
    ["--pod-cidr: x is not a network, such as 10.96.0.0/12", { podCidr: "x" }],
    ["--service-cidr: x is not a network, such as 10.96.0.0/12", { serviceCidr: "x" }],
  ])("is refused with the option: %s", (message, changes) => {
    expect(() => planRestore(input(changes), source)).toThrow(message);
  });
});
