import type { Json } from "../interface.ts";
import type { Choices } from "./choices.ts";
import type { Subject } from "./subject.ts";
import { jobSpec, podSpec, workloadSpec } from "./pods.ts";

/** Built-in kinds with random bodies. */
export const BUILT_IN: readonly [Subject, ...Subject[]] = [
  core("ConfigMap", "configmaps", {
    body: (c) =>
      c.fields(60, {
        data: () =>
          c.fields(60, { a: () => text(c), b: () => text(c), "c.d": () => "", ...(c.chance(3) ? bad(c) : {}) }),
        binaryData: () => c.fields(40, { e: () => c.pick(["AAEC", "", "?"]), a: () => "AA==" }),
        ...(c.chance(5) ? { immutable: () => c.pick([true, false]) } : {}),
      }),
  }),
  core("Secret", "secrets", { body: secret, selectors: ["type=Opaque", "type!=Opaque"] }),
  core("Service", "services", {
    body: service,
    status: (c) => ({ loadBalancer: { ingress: c.several(0, 2, (i) => ({ ip: `192.0.2.${i + 1}` })) } }),
    selectors: ["spec.type=ClusterIP", "spec.clusterIP=None"],
  }),
  core("Pod", "pods", {
    body: (c) => ({ spec: podSpec(c, false) }),
    status: (c) =>
      c.fields(50, {
        phase: () => c.pick(["Pending", "Running", "Succeeded"]),
        podIP: () => "10.0.0.1",
        conditions: () => conditions(c),
        message: () => text(c),
      }),
    selectors: ["status.phase=Running", "spec.restartPolicy=Never", "spec.nodeName=n", "spec.nosuch=1"],
  }),
  core("ServiceAccount", "serviceaccounts", {
    body: (c) =>
      c.fields(40, {
        secrets: () => c.several(0, 2, () => ({ name: text(c) })),
        imagePullSecrets: () => c.several(0, 3, (i) => ({ name: `pull-${i}` })),
        automountServiceAccountToken: () => c.chance(50),
      }),
  }),
  clusterWide("Node", "nodes", {
    body: (c) => ({
      spec: c.fields(40, {
        unschedulable: () => c.chance(50),
        podCIDR: () => "10.244.1.0/24",
        podCIDRs: () => ["10.244.1.0/24"],
        providerID: () => c.pick(["a://b", "c"]),
        taints: () =>
          c.several(0, 2, (i) => ({ key: `k${i}`, effect: c.pick(["NoSchedule", "NoExecute", "Never"]), value: "v" })),
      }),
    }),
    status: (c) =>
      c.fields(50, {
        capacity: () => ({ cpu: c.pick(["1", "1000m", "2"]), memory: "1Gi" }),
        conditions: () => conditions(c),
        addresses: () => c.several(0, 2, (i) => ({ type: ["Hostname", "InternalIP"][i], address: `10.0.0.${i}` })),
      }),
    selectors: ["spec.unschedulable=true"],
  }),
  clusterWide("Namespace", "namespaces", { body: () => ({}), selectors: ["status.phase=Active"] }),
  {
    ...core("Lease", "leases", {
      body: (c) => ({
        spec: c.fields(50, {
          holderIdentity: () => c.pick(["one", "two", ""]),
          leaseDurationSeconds: () => c.pick([15, 1, 0, -1]),
          acquireTime: () => c.pick(["2001-01-01T00:00:00.000000Z", "2001-01-01T00:00:00Z", "2001-01-01T00:00:00.5Z"]),
          leaseTransitions: () => c.pick([0, 1, 2]),
        }),
      }),
    }),
    apiVersion: "coordination.k8s.io/v1",
  },
  rbac("Role", "roles", true, (c) => ({ rules: c.several(0, 2, () => rule(c)) })),
  rbac("RoleBinding", "rolebindings", true, binding),
  rbac("ClusterRole", "clusterroles", false, (c) => ({ rules: c.several(0, 2, () => rule(c)) })),
  rbac("ClusterRoleBinding", "clusterrolebindings", false, binding),
  {
    ...core("Deployment", "deployments", {
      body: (c) => ({ spec: workloadSpec(c) }),
      status: (c) =>
        c.fields(50, {
          replicas: () => c.below(4),
          readyReplicas: () => c.below(3),
          observedGeneration: () => c.pick([1, 2]),
          conditions: () => conditions(c),
        }),
    }),
    apiVersion: "apps/v1",
    subresources: ["status", "scale"],
  },
  {
    ...core("Job", "jobs", {
      body: (c) => ({ spec: jobSpec(c) }),
      status: (c) => c.fields(50, { active: () => c.below(2), failed: () => c.below(2) }),
    }),
    apiVersion: "batch/v1",
  },
];

type Particular = Pick<Subject, "body" | "status"> & { readonly selectors?: readonly string[] };

function core(kind: string, plural: string, { selectors = [], ...rest }: Particular): Subject {
  const subresources: Subject["subresources"] = rest.status ? ["status"] : [];
  return { kind, plural, apiVersion: "v1", namespaced: true, custom: false, subresources, selectors, ...rest };
}

function clusterWide(kind: string, plural: string, particular: Particular): Subject {
  return { ...core(kind, plural, particular), namespaced: false };
}

function rbac(kind: string, plural: string, namespaced: boolean, body: Subject["body"]): Subject {
  return { ...core(kind, plural, { body }), apiVersion: "rbac.authorization.k8s.io/v1", namespaced };
}

export function text(c: Choices): string {
  return c.pick(["a", "b", "", "some text", "line\nline"]);
}

function bad(c: Choices): Record<string, () => unknown> {
  return { [c.pick(["not a key", "..", "sl/ash"])]: () => "x" };
}

export function conditions(c: Choices): Json[] {
  return c.several(0, 2, (i) => ({
    type: ["Ready", "Other"][i],
    status: c.pick(["True", "False", "Unknown"]),
    ...c.fields(40, {
      reason: () => "Because",
      message: () => text(c),
      lastTransitionTime: () => "2001-01-01T00:00:00Z",
    }),
  }));
}

function secret(c: Choices): Json {
  const type = c.pick([
    "",
    "Opaque",
    "kubernetes.io/basic-auth",
    "kubernetes.io/tls",
    "example.com/own",
    "kubernetes.io/dockerconfigjson",
  ]);
  return {
    ...(type === "" ? {} : { type }),
    ...c.fields(60, {
      data: () =>
        c.fields(60, {
          a: () => c.pick(["YQ==", "", "Yg=="]),
          username: () => "dQ==",
          "tls.crt": () => "YQ==",
          "tls.key": () => "YQ==",
          ".dockerconfigjson": () => c.pick(["e30=", "YQ=="]),
        }),
      stringData: () => c.fields(60, { a: () => text(c), b: () => text(c) }),
      ...(c.chance(5) ? { immutable: () => true } : {}),
    }),
  };
}

function service(c: Choices): Json {
  const type = c.pick(["ClusterIP", "", "NodePort", "LoadBalancer", "ExternalName"]);
  const headless = type === "ClusterIP" && c.chance(20);
  const ports = c.several(type === "ExternalName" || headless ? 0 : 1, 2, (i) => ({
    port: c.pick([80, 443, 8080 + i]),
    ...(c.chance(80) ? { name: `p${i}` } : {}),
    ...c.fields(25, { protocol: () => c.pick(["TCP", "UDP", "Any"]), targetPort: () => c.pick([80, "web", 0]) }),
  }));
  return {
    spec: {
      ...(type === "" ? {} : { type }),
      ...(headless ? { clusterIP: "None" } : {}),
      ...(type === "ExternalName" ? { externalName: c.pick(["example.com", "", "Not Good"]) } : {}),
      ...(ports.length === 0 ? {} : { ports }),
      ...c.fields(25, {
        selector: () => ({ app: c.pick(["x", "y"]) }),
        sessionAffinity: () => c.pick(["None", "ClientIP", "Never"]),
        externalIPs: () => ["192.0.2.1"],
        publishNotReadyAddresses: () => true,
      }),
      ...(type === "LoadBalancer" || type === "NodePort"
        ? c.fields(20, {
            externalTrafficPolicy: () => c.pick(["Local", "Cluster"]),
            allocateLoadBalancerNodePorts: () => false,
            loadBalancerSourceRanges: () => ["192.0.2.0/24"],
          })
        : {}),
    },
  };
}

function rule(c: Choices): Json {
  if (c.chance(10)) return { nonResourceURLs: ["/healthz"], verbs: ["get"] };
  return {
    verbs: c.several(1, 2, () => c.pick(["get", "list", "*"])),
    ...c.fields(90, {
      apiGroups: () => [c.pick(["", "apps"])],
      resources: () => c.several(1, 2, () => c.pick(["pods", "nodes"])),
    }),
    ...c.fields(15, { resourceNames: () => ["a"] }),
  };
}

function binding(c: Choices): Json {
  return {
    roleRef: {
      kind: c.pick(["ClusterRole", "ClusterRole", "Role"]),
      name: c.pick(["view", "other"]),
      apiGroup: "rbac.authorization.k8s.io",
    },
    ...c.fields(80, {
      subjects: () =>
        c.several(0, 2, () =>
          c.pick<Json>([
            { kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" },
            { kind: "ServiceAccount", name: "s", namespace: "default" },
            { kind: "Group", name: "g" },
            { kind: "ServiceAccount", name: "s" },
          ]),
        ),
    }),
  };
}
