import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { eventually, invalid, made, refused } from "./shorthands.ts";
import { collection } from "./defaults.ts";

/**
 * What is given of an object, the merge patch that follows, and why that is refused; no causes where it is accepted.
 */
type Row = readonly [kind: string, given: Json, change: Json, ...causes: string[]];

const KINDS: Readonly<Record<string, readonly [apiVersion: string, plural: string, clusterScoped?: true]>> = {
  PersistentVolumeClaim: ["v1", "persistentvolumeclaims"],
  ResourceQuota: ["v1", "resourcequotas"],
  StorageClass: ["storage.k8s.io/v1", "storageclasses", true],
  VolumeAttributesClass: ["storage.k8s.io/v1", "volumeattributesclasses", true],
  CSIDriver: ["storage.k8s.io/v1", "csidrivers", true],
  CSINode: ["storage.k8s.io/v1", "csinodes", true],
  CSIStorageCapacity: ["storage.k8s.io/v1", "csistoragecapacities"],
  VolumeAttachment: ["storage.k8s.io/v1", "volumeattachments", true],
  PriorityClass: ["scheduling.k8s.io/v1", "priorityclasses", true],
  RuntimeClass: ["node.k8s.io/v1", "runtimeclasses", true],
  ControllerRevision: ["apps/v1", "controllerrevisions"],
  IngressClass: ["networking.k8s.io/v1", "ingressclasses", true],
  EndpointSlice: ["discovery.k8s.io/v1", "endpointslices"],
  ResourceClaim: ["resource.k8s.io/v1", "resourceclaims"],
  ResourceClaimTemplate: ["resource.k8s.io/v1", "resourceclaimtemplates"],
  ResourceSlice: ["resource.k8s.io/v1", "resourceslices", true],
};

function pathOf(c: Context, kind: string): string {
  const [apiVersion = "", plural = "", clusterScoped] = KINDS[kind] ?? [];
  return collection(c, { apiVersion, plural, ...(clusterScoped ? { clusterScoped } : {}) });
}

/** A name of its own for each of a case's objects. */
const nameOf = (c: Context): string => `${c.unique("o")}-${randomUUID().slice(0, 8)}`;

/** Makes one of `kind`; answers the path it is at. */
async function one(c: Context, kind: string, given: Json): Promise<string> {
  const name = nameOf(c);
  const [apiVersion] = KINDS[kind] ?? [];
  const metadata = { name, ...(given["metadata"] as Json | undefined) };
  await made(c.api.post(pathOf(c, kind), { apiVersion, kind, ...given, metadata }));
  return `${pathOf(c, kind)}/${name}`;
}

const size = (storage: string): Json => ({ spec: { resources: { requests: { storage } } } });
const CLAIM: Json = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } };
const claim = (more: Json = {}): Json => ({ spec: { ...CLAIM, ...more } });
const NOTE = "volume.beta.kubernetes.io/storage-class";
const FIXED =
  "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n";
const immutable = (field: string, value: unknown): string =>
  `${field}: Invalid value: ${JSON.stringify(value)}: field is immutable`;
const forbidden = (field: string): string => `${field}: Forbidden: updates to ${field} are forbidden.`;

const devices = (name: string): Json => ({
  devices: { requests: [{ name, exactly: { deviceClassName: "x" } }] },
});
const exactly =
  '{"DeviceClassName":"x","Selectors":null,"AllocationMode":"ExactCount","Count":1,"AdminAccess":null,"Tolerations":null,"Capacity":null}';
const DEVICES = `{"Devices":{"Requests":[{"Name":"b","Exactly":${exactly},"FirstAvailable":null}],"Constraints":null,"Config":null}}`;

const CLASSES: readonly Row[] = [
  ["StorageClass", { provisioner: "p" }, { provisioner: "q" }, forbidden("provisioner")],
  ["StorageClass", { provisioner: "p", parameters: { a: "b" } }, { parameters: { a: "c" } }, forbidden("parameters")],
  [
    "StorageClass",
    { provisioner: "p" },
    {
      provisioner: "q",
      reclaimPolicy: "Retain",
      parameters: { a: "c" },
      volumeBindingMode: "WaitForFirstConsumer",
    },
    ...["parameters", "provisioner", "reclaimPolicy"].map(forbidden),
    immutable("volumeBindingMode", "WaitForFirstConsumer"),
  ],
  ["StorageClass", { provisioner: "p" }, { allowVolumeExpansion: true, mountOptions: ["x"] }],
  [
    "VolumeAttributesClass",
    { driverName: "d", parameters: { a: "b" } },
    { driverName: "e", parameters: { a: "c" } },
    forbidden("driverName"),
    forbidden("parameters"),
  ],
  [
    "CSIDriver",
    { spec: {} },
    { spec: { volumeLifecycleModes: ["Ephemeral"], attachRequired: false } },
    immutable("spec.attachedRequired", false),
    immutable("spec.volumeLifecycleModes", ["Ephemeral"]),
  ],
  ["CSIDriver", { spec: {} }, { spec: { podInfoOnMount: true, fsGroupPolicy: "File", storageCapacity: true } }],
  [
    "PriorityClass",
    { value: 5 },
    { value: 6, preemptionPolicy: "Never" },
    "value: Forbidden: may not be changed in an update.",
    immutable("preemptionPolicy", "Never"),
  ],
  ["PriorityClass", { value: 5 }, { description: "x" }],
  ["RuntimeClass", { handler: "h" }, { handler: "i" }, immutable("handler", "i")],
  ["RuntimeClass", { handler: "h" }, { overhead: { podFixed: { cpu: "1" } } }],
  [
    "IngressClass",
    { spec: { controller: "a.b/c" } },
    { spec: { controller: "a.b/d" } },
    immutable("spec.controller", "a.b/d"),
  ],
];

const OTHERS: readonly Row[] = [
  [
    "VolumeAttachment",
    { spec: { attacher: "a", nodeName: "n", source: { persistentVolumeName: "v" } } },
    { spec: { nodeName: "m" } },
    'spec: Invalid value: {"Attacher":"a","Source":{"PersistentVolumeName":"v","InlineVolumeSpec":null},"NodeName":"m"}: field is immutable',
  ],
  [
    "CSINode",
    { spec: { drivers: [{ name: "d", nodeID: "n" }] } },
    { spec: { drivers: [{ name: "d", nodeID: "m" }] } },
    'spec.drivers: Invalid value: {"Name":"d","NodeID":"m","TopologyKeys":null,"Allocatable":null}: field is immutable',
  ],
  [
    "CSINode",
    { spec: { drivers: [{ name: "d", nodeID: "n" }] } },
    {
      spec: {
        drivers: [
          { name: "d", nodeID: "n" },
          { name: "e", nodeID: "n" },
        ],
      },
    },
  ],
  [
    "CSIStorageCapacity",
    { storageClassName: "s" },
    { storageClassName: "t", nodeTopology: { matchLabels: { a: "b" } } },
    immutable("nodeTopology", { matchLabels: { a: "b" } }),
    immutable("storageClassName", "t"),
  ],
  ["CSIStorageCapacity", { storageClassName: "s" }, { capacity: "1Gi" }],
  ["ControllerRevision", { data: { a: 1 }, revision: 1 }, { data: { a: 2 } }, immutable("data", { a: 2 })],
  ["ControllerRevision", { data: { a: 1 }, revision: 1 }, { revision: 2 }],
  [
    "ResourceQuota",
    { spec: { hard: { pods: "1" } } },
    { spec: { scopes: ["BestEffort"] } },
    immutable("spec.scopes", ["BestEffort"]),
  ],
  ["EndpointSlice", { addressType: "IPv4", endpoints: [] }, { addressType: "IPv6" }, immutable("addressType", "IPv6")],
  [
    "ResourceClaim",
    { spec: devices("a") },
    { spec: devices("b") },
    `spec: Invalid value: ${DEVICES}: field is immutable`,
  ],
  [
    "ResourceClaimTemplate",
    { spec: { spec: devices("a") } },
    { spec: { spec: devices("b") } },
    `spec: Invalid value: {"Spec":${DEVICES}}: field is immutable`,
  ],
  [
    "ResourceSlice",
    { spec: { driver: "d.x", nodeName: "n", pool: { name: "p", generation: 1, resourceSliceCount: 1 } } },
    { spec: { driver: "e.x" } },
    immutable("spec.driver", "e.x"),
  ],
];

const CLAIMS: readonly Row[] = [
  ["PersistentVolumeClaim", claim(), { spec: { volumeName: "v", storageClassName: "s" } }],
  [
    "PersistentVolumeClaim",
    claim(),
    size("3Gi"),
    `${FIXED}@@ -6,7 +6,7 @@
  "Resources": {
   "Limits": null,
   "Requests": {
-   "storage": "2Gi"
+   "storage": "3Gi"
   }
  },
  "VolumeName": "",
`,
  ],
  ["PersistentVolumeClaim", claim(), size("2048Mi")],
  [
    "PersistentVolumeClaim",
    claim({ volumeName: "v", storageClassName: "a" }),
    { spec: { accessModes: ["ReadOnlyMany"], volumeName: "w", storageClassName: null } },
    `${FIXED}@@ -1,6 +1,6 @@
 {
  "AccessModes": [
-  "ReadWriteOnce"
+  "ReadOnlyMany"
  ],
  "Selector": null,
  "Resources": {
@@ -9,8 +9,8 @@
    "storage": "2Gi"
   }
  },
- "VolumeName": "v",
- "StorageClassName": "a",
+ "VolumeName": "w",
+ "StorageClassName": null,
  "VolumeMode": "Filesystem",
  "DataSource": null,
  "DataSourceRef": null,
`,
  ],
  [
    "PersistentVolumeClaim",
    claim({ dataSource: { kind: "PersistentVolumeClaim", name: "o" } }),
    { spec: { volumeMode: "Block" } },
    `${FIXED}@@ -11,7 +11,7 @@
  },
  "VolumeName": "",
  "StorageClassName": null,
- "VolumeMode": "Filesystem",
+ "VolumeMode": "Block",
  "DataSource": {
   "APIGroup": null,
   "Kind": "PersistentVolumeClaim",
`,
    immutable("volumeMode", "Block"),
  ],
  [
    "PersistentVolumeClaim",
    claim(),
    { spec: { selector: { matchLabels: { a: "b" } }, volumeAttributesClassName: "x" } },
    `${FIXED}@@ -2,7 +2,11 @@
  "AccessModes": [
   "ReadWriteOnce"
  ],
- "Selector": null,
+ "Selector": {
+  "matchLabels": {
+   "a": "b"
+  }
+ },
  "Resources": {
   "Limits": null,
   "Requests": {
@@ -14,5 +18,5 @@
  "VolumeMode": "Filesystem",
  "DataSource": null,
  "DataSourceRef": null,
- "VolumeAttributesClassName": null
+ "VolumeAttributesClassName": "x"
 }
`,
  ],
  [
    "PersistentVolumeClaim",
    { metadata: { annotations: { [NOTE]: "a" } }, ...claim() },
    { metadata: { annotations: { [NOTE]: "b" } } },
    immutable(`metadata.annotations.${NOTE}`, "b"),
  ],
  [
    "PersistentVolumeClaim",
    { metadata: { annotations: { [NOTE]: "a" } }, ...claim() },
    { metadata: { annotations: { [NOTE]: null } }, spec: { storageClassName: "a" } },
  ],
  ["PersistentVolumeClaim", claim(), { metadata: { labels: { a: "b" } } }],
];

function rowsCase(name: string, rows: readonly Row[]): ContractCase {
  return {
    name,
    async run(c) {
      for (const [kind, given, change, ...causes] of rows) {
        const answer = await c.api.patch(await one(c, kind, given), "merge", change);
        if (causes.length > 0) invalid(answer, ...causes);
        else expect({ kind, code: answer.code, message: answer.body["message"] }).toEqual({ kind, code: 200 });
      }
    },
  };
}

const BOUND: Json = { phase: "Bound", capacity: { storage: "2Gi" }, accessModes: ["ReadWriteOnce"] };
const NOT_GROWING =
  "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";

async function bound(c: Context, more: Json, requests = "2Gi"): Promise<string> {
  const resources = { requests: { storage: requests } };
  const path = await one(c, "PersistentVolumeClaim", claim({ volumeName: "v", resources, ...more }));
  await c.api.patch(`${path}/status`, "merge", { status: BOUND });
  return path;
}

const growing: ContractCase[] = [
  {
    name: "a bound claim grows where its class lets it, and does not shrink below what it has",
    async run(c) {
      const grows = {
        storageClassName: (await one(c, "StorageClass", { provisioner: "p", allowVolumeExpansion: true }))
          .split("/")
          .at(-1),
      };
      const fixed = { storageClassName: (await one(c, "StorageClass", { provisioner: "p" })).split("/").at(-1) };
      const change = async (more: Json, to: Json, from?: string) =>
        c.api.patch(await bound(c, more, from), "merge", to);
      await eventually(async () => (await change(grows, size("3Gi"))).code === 200 || undefined, "a class");
      for (const more of [{}, fixed, { storageClassName: "absent" }]) {
        refused(await change(more, size("3Gi")), 403, "Forbidden", new RegExp(`is forbidden: ${NOT_GROWING}$`));
      }
      const less = "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity";
      invalid(await change(grows, size("1Gi")), less);
      invalid(await change(grows, size("2Gi"), "4Gi"), less);
      expect((await change(grows, size("3Gi"), "4Gi")).code).toBe(200);
    },
  },
  {
    name: "a bound claim changes its attributes, and nothing else of its spec",
    async run(c) {
      const path = await bound(c, { volumeAttributesClassName: "x" });
      const to = (name: string | null) => c.api.patch(path, "merge", { spec: { volumeAttributesClassName: name } });
      expect((await to("y")).code).toBe(200);
      invalid(
        await c.api.patch(path, "merge", { spec: { resources: { limits: { storage: "5Gi" } } } }),
        `${FIXED}@@ -4,7 +4,9 @@
  ],
  "Selector": null,
  "Resources": {
-  "Limits": null,
+  "Limits": {
+   "storage": "5Gi"
+  },
   "Requests": {
    "storage": "2Gi"
   }
`,
      );
    },
  },
];

export const immutableFields: CaseGroup = {
  title: "immutable fields",
  cases: [
    rowsCase("the fields of classes and drivers that provision volumes and pods are immutable", CLASSES),
    rowsCase("fields that other objects depend on are immutable", OTHERS),
    rowsCase("the requested resources of a claim are immutable", CLAIMS),
    ...growing,
  ],
};
