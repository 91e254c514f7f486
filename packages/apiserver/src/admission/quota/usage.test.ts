import { describe, expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import type { Resource } from "../../contract/resource.ts";
import type { Json } from "../../json/json.ts";
import { namesFor, unspecified, usageOf } from "./usage.ts";

const resource = (plural: string, group = ""): Resource =>
  ({ plural, group, storage: `${group}/${plural}` }) as unknown as Resource;
const PODS = resource("pods");
const CLAIMS = resource("persistentvolumeclaims");
const SERVICES = resource("services");
const object = (spec: Json, more: Json = {}): KubeObject =>
  ({ metadata: { name: "o", namespace: "ns" }, spec, ...more }) as unknown as KubeObject;
const container = (requests: Json, limits: Json = {}, name = "c"): Json => ({ name, resources: { requests, limits } });

describe("the usage that an object has of a quota", () => {
  const COMPUTE = { cpu: "1", memory: "2", "ephemeral-storage": "3", "hugepages-2Mi": "4", "x.y/z": "5", other: "6" };
  test.each<[string, Resource, KubeObject, Json]>([
    ["is a number of its kind", resource("deployments", "apps"), object({}), { "count/deployments.apps": "1" }],
    ["has no group in the number", resource("things"), object({}), { "count/things": "1" }],
    [
      "has another name for some kinds",
      resource("configmaps"),
      object({}),
      { "count/configmaps": "1", configmaps: "1" },
    ],
    ["has another name for secrets", resource("secrets"), object({}), { "count/secrets": "1", secrets: "1" }],
    [
      "has another name for controllers",
      resource("replicationcontrollers"),
      object({}),
      { "count/replicationcontrollers": "1", replicationcontrollers: "1" },
    ],
    [
      "has another name for quotas",
      resource("resourcequotas"),
      object({}),
      { "count/resourcequotas": "1", resourcequotas: "1" },
    ],
    ["has no other name in another group", resource("secrets", "x.y"), object({}), { "count/secrets.x.y": "1" }],
    [
      "is what a pod asks for and may have",
      PODS,
      object({ containers: [container(COMPUTE, { cpu: "7", memory: "8", "ephemeral-storage": "9", "x.y/z": "5" })] }),
      {
        "count/pods": "1",
        pods: "1",
        cpu: "1",
        "requests.cpu": "1",
        "limits.cpu": "7",
        memory: "2",
        "requests.memory": "2",
        "limits.memory": "8",
        "ephemeral-storage": "3",
        "requests.ephemeral-storage": "3",
        "limits.ephemeral-storage": "9",
        "hugepages-2Mi": "4",
        "requests.hugepages-2Mi": "4",
        "requests.x.y/z": "5",
      },
    ],
    [
      "is a pod that failed alone",
      PODS,
      object({ containers: [container(COMPUTE)] }, { status: { phase: "Failed" } }),
      { "count/pods": "1" },
    ],
    [
      "is a pod that succeeded alone",
      PODS,
      object({ containers: [container(COMPUTE)] }, { status: { phase: "Succeeded" } }),
      { "count/pods": "1" },
    ],
    ["is more while a pod runs", PODS, object({}, { status: { phase: "Running" } }), { "count/pods": "1", pods: "1" }],
    ...(
      [
        ["ClusterIP", {}, "0", "0"],
        ["NodePort", {}, "0", "3"],
        ["LoadBalancer", {}, "1", "3"],
        ["LoadBalancer", { allocateLoadBalancerNodePorts: true }, "1", "3"],
        ["LoadBalancer", { allocateLoadBalancerNodePorts: false }, "1", "2"],
        ["NodePort", { allocateLoadBalancerNodePorts: false }, "0", "3"],
      ] as const
    ).map(([type, more, balancers, nodePorts]): [string, Resource, KubeObject, Json] => [
      `is the ports of a ${type} Service (${JSON.stringify(more)})`,
      SERVICES,
      object({ type, ports: [{ nodePort: 30_000 }, { nodePort: 30_001 }, {}], ...more }),
      { "count/services": "1", services: "1", "services.loadbalancers": balancers, "services.nodeports": nodePorts },
    ]),
    [
      "is the storage of a claim, also by its class",
      CLAIMS,
      object({ storageClassName: "fast", resources: { requests: { storage: "1Gi" } } }),
      {
        "count/persistentvolumeclaims": "1",
        persistentvolumeclaims: "1",
        "requests.storage": "1Gi",
        "fast.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
        "fast.storageclass.storage.k8s.io/requests.storage": "1Gi",
      },
    ],
    [
      "is a claim without a class",
      CLAIMS,
      object({}),
      { "count/persistentvolumeclaims": "1", persistentvolumeclaims: "1" },
    ],
    [
      "is by the class of a claim's annotation",
      CLAIMS,
      {
        metadata: { name: "o", annotations: { "volume.beta.kubernetes.io/storage-class": "old" } },
        spec: { storageClassName: "fast" },
      } as unknown as KubeObject,
      {
        "count/persistentvolumeclaims": "1",
        persistentvolumeclaims: "1",
        "old.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
      },
    ],
  ])("%s", (_what, kind, given, expected) => {
    expect(usageOf(kind, given)).toStrictEqual(expected);
  });

  const NAMES = [
    "pods",
    "cpu",
    "requests.cpu",
    "limits.memory",
    "hugepages-2Mi",
    "requests.hugepages-2Mi",
    "requests.x.y/z",
    "limits.x.y/z",
    "requests.storage",
    "a.storageclass.storage.k8s.io/requests.storage",
    "requests.a.storageclass.storage.k8s.io/x",
    "persistentvolumeclaims",
    "services",
    "services.nodeports",
    "services.loadbalancers",
    "secrets",
    "count/pods",
    "count/secrets",
    "count/deployments.apps",
  ];
  const OF_PODS = [
    "pods",
    "cpu",
    "requests.cpu",
    "limits.memory",
    "hugepages-2Mi",
    "requests.hugepages-2Mi",
    "requests.x.y/z",
    "count/pods",
  ];
  const OF_CLAIMS = [
    "requests.storage",
    "a.storageclass.storage.k8s.io/requests.storage",
    "requests.a.storageclass.storage.k8s.io/x",
    "persistentvolumeclaims",
  ];
  test.each<[string, Resource, readonly string[]]>([
    ["pods", PODS, OF_PODS],
    ["claims", CLAIMS, OF_CLAIMS],
    ["Services", SERVICES, ["services", "services.nodeports", "services.loadbalancers"]],
    ["secrets", resource("secrets"), ["secrets", "count/secrets"]],
    ["other kinds", resource("deployments", "apps"), ["count/deployments.apps"]],
  ])("has its names for %s", (_what, kind, expected) => {
    expect(namesFor(kind, NAMES)).toEqual(expected);
  });

  const BOTH = ["requests.cpu", "limits.memory", "cpu", "pods"];
  test.each<[string, Json, readonly string[], string]>([
    ["nothing where containers say all", { containers: [container({ cpu: "1" }, { memory: "1" })] }, BOTH, ""],
    [
      "each container by its name",
      {
        containers: [container({}, {}, "b"), container({}, {}, "a")],
        initContainers: [container({ cpu: "1" }, {}, "i")],
      },
      BOTH,
      "cpu for: a,b; limits.memory for: a,b,i; requests.cpu for: a,b",
    ],
    [
      "nothing where the pod says something as a whole",
      { containers: [container({})], resources: { limits: {} } },
      BOTH,
      "",
    ],
    [
      "nothing of what containers need not say",
      { containers: [container({})] },
      ["ephemeral-storage", "pods", "limits.ephemeral-storage"],
      "",
    ],
    [
      "all that containers must say",
      { containers: [container({})] },
      ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"],
      "cpu for: c; limits.cpu for: c; limits.memory for: c; memory for: c; requests.cpu for: c; requests.memory for: c",
    ],
  ])("must be said: %s", (_what, spec, names, expected) => {
    expect(unspecified(object(spec), names)).toBe(expected);
  });
});
