import { expect, test } from "vitest";
import type { CSIDriver, CSIStorageCapacity, PersistentVolumeClaim, StorageClass } from "../../objects/storage.ts";
import { prepareFilters } from "../evaluate.ts";
import { info, node, nodeWith, view } from "../testing/objects.ts";

const ZONE = "topology.csi.example.com/zone";
const NO_ROOM = "node(s) did not have enough free storage";
const NO_VOLUME = "node(s) didn't find available persistent volumes to bind";

const classOf = (name: string, more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name },
  provisioner: "csi.example.com",
  volumeBindingMode: "WaitForFirstConsumer",
  ...more,
});
const driver = (storageCapacity?: boolean): CSIDriver => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIDriver",
  metadata: { name: "csi.example.com" },
  spec: storageCapacity === undefined ? {} : { storageCapacity },
});
const claim = (size: string | undefined, annotations = {}): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { namespace: "default", name: "data", uid: "data", annotations },
  spec: {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "fast",
    resources: { requests: size === undefined ? {} : { storage: size } },
  },
});
const capacity = (fields: Partial<CSIStorageCapacity>): CSIStorageCapacity => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSIStorageCapacity",
  metadata: { namespace: "kube-system", name: "csisc-1" },
  storageClassName: "fast",
  nodeTopology: { matchLabels: { [ZONE]: "a" } },
  ...fields,
});

interface Case {
  readonly size?: string | undefined;
  readonly driver?: CSIDriver | undefined;
  readonly capacities?: readonly CSIStorageCapacity[];
  readonly storageClass?: StorageClass;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly reasons: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  "accepts a node of a segment with as much as is requested": {
    capacities: [capacity({ capacity: "10Gi" })],
    reasons: [],
  },
  "refuses one of a segment with less": { capacities: [capacity({ capacity: "9Gi" })], reasons: [NO_ROOM] },
  "reads the capacity in any unit": { capacities: [capacity({ capacity: "10737418240" })], reasons: [] },
  "prefers the largest volume to what is free in all: too small": {
    capacities: [capacity({ capacity: "100Gi", maximumVolumeSize: "9Gi" })],
    reasons: [NO_ROOM],
  },
  "prefers the largest volume to what is free in all: large enough": {
    capacities: [capacity({ capacity: "1Gi", maximumVolumeSize: "10Gi" })],
    reasons: [],
  },
  "refuses a node when the driver has published nothing": { reasons: [NO_ROOM] },
  "refuses a node of another segment": {
    capacities: [capacity({ capacity: "100Gi", nodeTopology: { matchLabels: { [ZONE]: "b" } } })],
    reasons: [NO_ROOM],
  },
  "refuses what no node can reach": {
    capacities: [{ ...capacity({ capacity: "100Gi" }), nodeTopology: undefined as never }],
    reasons: [NO_ROOM],
  },
  "takes an empty topology for every node": {
    capacities: [capacity({ capacity: "100Gi", nodeTopology: {} })],
    reasons: [],
  },
  "refuses what is not published with a size": { capacities: [capacity({})], reasons: [NO_ROOM] },
  "ignores what another class has": {
    capacities: [capacity({ capacity: "100Gi", storageClassName: "slow" })],
    reasons: [NO_ROOM],
  },
  "accepts when one of several segments that the node is in has room": {
    capacities: [capacity({ capacity: "1Gi" }), capacity({ capacity: "100Gi" })],
    reasons: [],
  },
  "does not read capacities of a driver without storageCapacity": { driver: driver(), reasons: [] },
  "does not read capacities of a driver with storageCapacity false": { driver: driver(false), reasons: [] },
  "does not read capacities of a provisioner that is no CSI driver": { driver: undefined, reasons: [] },
  "does not read capacities for a claim without a size": { size: undefined, reasons: [] },
  "names the class's topology before the capacity": {
    storageClass: classOf("fast", {
      allowedTopologies: [{ matchLabelExpressions: [{ key: ZONE, values: ["b"] }] }],
    }),
    reasons: [NO_VOLUME],
  },
  "reads capacities for a claim whose node was chosen earlier, too": {
    annotations: { "volume.kubernetes.io/selected-node": "here" },
    reasons: [NO_ROOM],
  },
};

test.each(Object.entries(cases))("the filter by storage capacity %s", (_name, given) => {
  const size = "size" in given ? given.size : "10Gi";
  const csiDriver = "driver" in given ? given.driver : driver(true);
  const here = nodeWith(node("here", { labels: { [ZONE]: "a" } }));
  const pod = info("tested", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] });
  const cluster = view({
    nodes: [here],
    claims: [claim(size, given.annotations)],
    storageClasses: [given.storageClass ?? classOf("fast")],
    csiDrivers: csiDriver === undefined ? [] : [csiDriver],
    capacities: given.capacities ?? [],
  });
  const prepared = prepareFilters(pod, cluster);
  if (prepared.rejection) throw new Error(prepared.rejection.message);
  const failure = prepared.test(here);
  expect(failure?.reasons ?? []).toEqual(given.reasons);
  // Removing pods does not make room in a storage service.
  if (failure) expect(failure.final).toBe(true);
});
