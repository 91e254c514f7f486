import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../objects/storage.ts";
import type { Observed } from "../volumeclaim/gather.ts";

/** Claims, volumes and classes for the tables of planner tests. */

export type ClaimSpec = PersistentVolumeClaim["spec"];
const finalizers = ["kubernetes.io/pvc-protection"];
export const completed = { "pv.kubernetes.io/bind-completed": "yes" };
export const claim = (spec: ClaimSpec = {}, metadata: object = {}, phase = "Pending"): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data", namespace: "default", uid: "claim", resourceVersion: "7", finalizers, ...metadata },
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
    storageClassName: "fast",
    ...spec,
  },
  status: { phase },
});
export const own = { namespace: "default", name: "data", uid: "claim" };
export const volume = (name: string, spec: PersistentVolume["spec"] = {}, phase = "Available"): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name, uid: name, resourceVersion: "3", finalizers: ["kubernetes.io/pv-protection"] },
  spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, storageClassName: "fast", ...spec },
  status: { phase },
});
export const storageClass = (fields: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "fast" },
  provisioner: "csi.example.com",
  ...fields,
});
export const observed = (object: PersistentVolumeClaim, more: Partial<Observed> = {}): Observed => ({
  claim: object,
  volume: undefined,
  volumes: [],
  storageClass: storageClass(),
  classes: [],
  pods: [],
  ...more,
});
export const waits = storageClass({ volumeBindingMode: "WaitForFirstConsumer" });
