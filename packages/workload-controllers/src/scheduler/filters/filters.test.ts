import { describe, expect, test } from "vitest";
import { prepareFilters } from "../evaluate.ts";
import type { NodeInfo } from "../../model/node-info.ts";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../objects/storage.ts";
import { info, node, nodeWith, view, type NodeFields, type PodFacts, type ViewFacts } from "../testing/objects.ts";

interface Case {
  readonly pod?: PodFacts;
  readonly node?: NodeFields;
  /** Pods that are on the node. */
  readonly on?: readonly PodFacts[];
  /** Other nodes, each with its pods. */
  readonly others?: readonly NodeInfo[];
  readonly cluster?: Omit<ViewFacts, "nodes">;
  readonly reasons: readonly string[];
  readonly final?: boolean;
}

function judge(given: Case): { reasons: readonly string[]; final: boolean } {
  const here = nodeWith(node("here", given.node), ...(given.on ?? []).map((facts, i) => info(`on-${i}`, facts)));
  const pod = info("tested", given.pod);
  const prepared = prepareFilters(pod, view({ ...given.cluster, nodes: [here, ...(given.others ?? [])] }));
  if (prepared.rejection) return { reasons: [prepared.rejection.message], final: true };
  const failure = prepared.test(here);
  return { reasons: failure?.reasons ?? [], final: failure?.final ?? true };
}

const zone = "topology.kubernetes.io/zone";
const inZone = (name: string): NodeFields => ({ labels: { [zone]: name } });
const selector = { matchLabels: { app: "web" } };
const web = { labels: { app: "web" } };
const taint = (effect: "NoSchedule" | "NoExecute" | "PreferNoSchedule") => ({ key: "k", value: "v", effect });
const spread = (fields: object = {}) => ({
  ...web,
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "DoNotSchedule", labelSelector: selector, ...fields },
  ],
});
const near = (fields: object = {}) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: selector, topologyKey: zone, ...fields }],
});
const requiredNodes = (...terms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
});

const claim = (name: string, spec: PersistentVolumeClaim["spec"], bound = false): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: {
    namespace: "default",
    name,
    uid: name,
    annotations: bound ? { "pv.kubernetes.io/bind-completed": "yes" } : {},
  },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});
const volume = (name: string, spec: PersistentVolume["spec"], labels = {}): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name, labels },
  spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "2Gi" }, ...spec },
});
const storageClass = (name: string, provisioner: string, mode = "WaitForFirstConsumer"): StorageClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name },
  provisioner,
  volumeBindingMode: mode,
});
const using = (claimName: string) => ({ volumes: [{ name: "data", persistentVolumeClaim: { claimName } }] });
const onlyIn = (value: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: "In", values: [value] }] }] },
});

const cases: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  NodeUnschedulable: {
    "refuses a cordoned node": {
      node: { unschedulable: true },
      reasons: ["node(s) were unschedulable"],
      final: true,
    },
    "lets a pod on a cordoned node that tolerates its taint": {
      pod: { tolerations: [{ key: "node.kubernetes.io/unschedulable", operator: "Exists" }] },
      node: { unschedulable: true },
      reasons: [],
    },
  },
  TaintToleration: {
    "refuses a taint that is not tolerated": {
      node: { taints: [taint("NoSchedule")] },
      reasons: ["node(s) had untolerated taint {k: v}"],
      final: true,
    },
    "takes NoExecute as well": {
      node: { taints: [taint("NoExecute")] },
      reasons: ["node(s) had untolerated taint {k: v}"],
    },
    "leaves PreferNoSchedule to the score": { node: { taints: [taint("PreferNoSchedule")] }, reasons: [] },
    "accepts an equal value": {
      pod: { tolerations: [{ key: "k", value: "v" }] },
      node: { taints: [taint("NoSchedule")] },
      reasons: [],
    },
    "refuses a toleration of another effect": {
      pod: { tolerations: [{ key: "k", operator: "Exists", effect: "NoExecute" }] },
      node: { taints: [taint("NoSchedule")] },
      reasons: ["node(s) had untolerated taint {k: v}"],
    },
    "accepts a toleration of everything": {
      pod: { tolerations: [{ operator: "Exists" }] },
      node: { taints: [taint("NoSchedule")] },
      reasons: [],
    },
  },
  NodeAffinity: {
    "refuses a node that nodeSelector does not select": {
      pod: { nodeSelector: { disk: "ssd" } },
      reasons: ["node(s) didn't match Pod's node affinity/selector"],
      final: true,
    },
    "accepts one term of several": {
      pod: requiredNodes(
        { matchExpressions: [{ key: "a", operator: "Exists" }] },
        { matchFields: [{ key: "metadata.name", operator: "In", values: ["here"] }] },
      ),
      reasons: [],
    },
    "compares numbers with Gt": {
      pod: requiredNodes({ matchExpressions: [{ key: "cores", operator: "Gt", values: ["9"] }] }),
      node: { labels: { cores: "10" } },
      reasons: [],
    },
    "selects nothing with a term that is empty": {
      pod: requiredNodes({}),
      reasons: ["node(s) didn't match Pod's node affinity/selector"],
    },
  },
  NodePorts: {
    "refuses a port that is in use on all addresses": {
      pod: { containers: [{ ports: [{ hostPort: 80, hostIP: "10.0.0.1" }] }] },
      on: [{ containers: [{ ports: [{ hostPort: 80 }] }] }],
      reasons: ["node(s) didn't have free ports for the requested pod ports"],
      final: false,
    },
    "accepts the same port of another protocol": {
      pod: { containers: [{ ports: [{ hostPort: 80, protocol: "UDP" }] }] },
      on: [{ containers: [{ ports: [{ hostPort: 80 }] }] }],
      reasons: [],
    },
  },
  NodeResourcesFit: {
    "names everything that is lacking": {
      pod: { requests: { cpu: "1", memory: "1Gi", "example.com/gpu": "1" } },
      node: { allocatable: { cpu: "1500m", memory: "1536Mi", "example.com/gpu": "1" } },
      on: [{ requests: { cpu: "1", memory: "1Gi", "example.com/gpu": "1" } }],
      reasons: ["Insufficient cpu", "Insufficient memory", "Insufficient example.com/gpu"],
      final: false,
    },
    "does not preempt for more than the node has": {
      pod: { requests: { cpu: "5" } },
      reasons: ["Insufficient cpu"],
      final: true,
    },
    "counts pods": {
      node: { allocatable: { pods: "1" } },
      on: [{}],
      reasons: ["Too many pods"],
      final: false,
    },
    "takes the largest init container if it needs more than the containers": {
      pod: {
        requests: { cpu: "1" },
        initContainers: [{ resources: { requests: { cpu: "5" } } }],
      },
      reasons: ["Insufficient cpu"],
    },
    "adds sidecars to the containers, and overhead": {
      pod: {
        requests: { cpu: "2" },
        initContainers: [{ restartPolicy: "Always", resources: { requests: { cpu: "1500m" } } }],
        overhead: { cpu: "600m" },
      },
      reasons: ["Insufficient cpu"],
    },
    "takes what the pod requests as a whole before what its containers do": {
      pod: { requests: { cpu: "5" }, resources: { requests: { cpu: "1" } } },
      reasons: [],
    },
  },
  PodTopologySpread: {
    "refuses a zone that would be ahead by more than maxSkew": {
      pod: spread(),
      node: inZone("a"),
      on: [web],
      others: [nodeWith(node("b", inZone("b")))],
      reasons: ["node(s) didn't match pod topology spread constraints"],
      final: false,
    },
    "does not count pods that are leaving": {
      pod: spread(),
      node: inZone("a"),
      on: [{ ...web, terminating: true }],
      others: [nodeWith(node("b", inZone("b")))],
      reasons: [],
    },
    "refuses a node without the label for good": {
      pod: spread(),
      reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
      final: true,
    },
    "takes missing domains for empty below minDomains": {
      pod: spread({ minDomains: 2 }),
      node: inZone("a"),
      on: [web],
      reasons: ["node(s) didn't match pod topology spread constraints"],
    },
    "does not count nodes that the pod cannot use": {
      pod: { ...spread(), nodeSelector: { [zone]: "a" } },
      node: inZone("a"),
      on: [web],
      others: [nodeWith(node("b", inZone("b")))],
      reasons: [],
    },
    "counts pods of the same revision only with matchLabelKeys": {
      pod: { ...spread({ matchLabelKeys: ["rev"] }), labels: { app: "web", rev: "2" } },
      node: inZone("a"),
      on: [{ labels: { app: "web", rev: "1" } }],
      others: [nodeWith(node("b", inZone("b")))],
      reasons: [],
    },
  },
  InterPodAffinity: {
    "refuses a zone without the pods that the pod wants to be near": {
      pod: { affinity: { podAffinity: near() } },
      node: inZone("a"),
      others: [nodeWith(node("b", inZone("b")), info("x", web))],
      reasons: ["node(s) didn't match pod affinity rules"],
      final: true,
    },
    "lets the first pod of a group run": {
      pod: { ...web, affinity: { podAffinity: near() } },
      node: inZone("a"),
      reasons: [],
    },
    "refuses a zone with pods that the pod avoids": {
      pod: { affinity: { podAntiAffinity: near() } },
      node: inZone("a"),
      others: [nodeWith(node("b", inZone("a")), info("x", web))],
      reasons: ["node(s) didn't match pod anti-affinity rules"],
      final: false,
    },
    "refuses a zone with pods that avoid the pod": {
      pod: web,
      node: inZone("a"),
      on: [{ affinity: { podAntiAffinity: near() } }],
      reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
      final: false,
    },
    "reads the namespaces that are selected": {
      pod: { affinity: { podAntiAffinity: near({ namespaceSelector: { matchLabels: { team: "x" } } }) } },
      node: inZone("a"),
      on: [{ ...web, namespace: "x" }],
      cluster: { namespaces: { x: { team: "x" } } },
      reasons: ["node(s) didn't match pod anti-affinity rules"],
    },
    "does not read other namespaces by itself": {
      pod: { affinity: { podAntiAffinity: near() } },
      node: inZone("a"),
      on: [{ ...web, namespace: "x" }],
      reasons: [],
    },
  },
  volumes: {
    "refuses a pod whose claim does not exist": {
      pod: using("data"),
      reasons: ['persistentvolumeclaim "data" not found'],
    },
    "refuses a pod whose claim waits for its volume": {
      pod: using("data"),
      cluster: {
        claims: [claim("data", { storageClassName: "now" })],
        storageClasses: [storageClass("now", "csi.example.com", "Immediate")],
      },
      reasons: ["pod has unbound immediate PersistentVolumeClaims"],
    },
    "refuses a node that the bound volume cannot be reached from": {
      pod: using("data"),
      node: inZone("a"),
      cluster: {
        claims: [claim("data", { volumeName: "pv" }, true)],
        volumes: [volume("pv", { nodeAffinity: onlyIn("b") })],
      },
      reasons: ["node(s) had volume node affinity conflict"],
      final: true,
    },
    "refuses a node outside the zone that the volume is labelled with": {
      pod: using("data"),
      node: inZone("a"),
      cluster: {
        claims: [claim("data", { volumeName: "pv" }, true)],
        volumes: [volume("pv", {}, { [zone]: "b" })],
      },
      reasons: ["node(s) had no available volume zone"],
    },
    "accepts a static volume that fits the claim and the node": {
      pod: using("data"),
      node: inZone("a"),
      cluster: {
        claims: [claim("data", { storageClassName: "local" })],
        storageClasses: [storageClass("local", "kubernetes.io/no-provisioner")],
        volumes: [volume("pv", { storageClassName: "local", nodeAffinity: onlyIn("a") })],
      },
      reasons: [],
    },
    "refuses a node without a static volume": {
      pod: using("data"),
      node: inZone("a"),
      cluster: {
        claims: [claim("data", { storageClassName: "local" })],
        storageClasses: [storageClass("local", "kubernetes.io/no-provisioner")],
        volumes: [volume("pv", { storageClassName: "local", nodeAffinity: onlyIn("b") })],
      },
      reasons: ["node(s) didn't find available persistent volumes to bind"],
    },
    "accepts a node for which a volume can be made": {
      pod: using("data"),
      cluster: {
        claims: [claim("data", { storageClassName: "csi" })],
        storageClasses: [storageClass("csi", "csi.example.com")],
      },
      reasons: [],
    },
    "refuses a node with as many volumes as its driver can attach": {
      pod: using("data"),
      on: [using("other")],
      cluster: {
        claims: [claim("data", { volumeName: "a" }, true), claim("other", { volumeName: "b" }, true)],
        volumes: ["a", "b"].map((name) => volume(name, { csi: { driver: "csi.example.com", volumeHandle: name } })),
        csiNodes: [
          {
            apiVersion: "storage.k8s.io/v1",
            kind: "CSINode",
            metadata: { name: "here" },
            spec: { drivers: [{ name: "csi.example.com", allocatable: { count: 1 } }] },
          },
        ],
      },
      reasons: ["node(s) exceed max volume count"],
      final: false,
    },
    "counts volumes and classes of the in-tree Cinder driver as the CSI driver's": {
      pod: using("data"),
      on: [using("other")],
      cluster: {
        claims: [claim("data", { storageClassName: "old" }), claim("other", { volumeName: "b" }, true)],
        storageClasses: [storageClass("old", "kubernetes.io/cinder")],
        volumes: [volume("b", { cinder: { volumeID: "b" } })],
        csiNodes: [
          {
            apiVersion: "storage.k8s.io/v1",
            kind: "CSINode",
            metadata: { name: "here" },
            spec: { drivers: [{ name: "cinder.csi.openstack.org", allocatable: { count: 1 } }] },
          },
        ],
      },
      reasons: ["node(s) exceed max volume count"],
      final: false,
    },
    "refuses the claim of another pod for an ephemeral volume": {
      pod: { volumes: [{ name: "data", ephemeral: {} }] },
      cluster: { claims: [claim("tested-data", { volumeName: "a" }, true)], volumes: [volume("a", {})] },
      reasons: ["PVC default/tested-data was not created for pod default/tested (pod is not owner)"],
      final: true,
    },
    "refuses a second pod for a ReadWriteOncePod claim": {
      pod: using("data"),
      on: [using("data")],
      cluster: {
        claims: [claim("data", { volumeName: "a", accessModes: ["ReadWriteOncePod"] }, true)],
        volumes: [volume("a", {})],
      },
      reasons: [
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
      ],
      final: false,
    },
  },
};

for (const [filter, table] of Object.entries(cases)) {
  describe(`filter ${filter}`, () => {
    test.each(Object.entries(table))("%s", (_, given) => {
      const { reasons, final } = judge(given);
      expect(reasons).toEqual(given.reasons);
      if (given.final !== undefined) expect(final).toBe(given.final);
    });
  });
}
