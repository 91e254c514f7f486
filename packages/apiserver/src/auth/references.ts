import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, records, text, type Json } from "../json/json.ts";

/** Kinds of volumes whose `secretRef` a kubelet reads. */
const SECRET_REFS = ["cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"];
/** Of a CSI driver's Secrets, those that are for the node. */
const CSI_REFS = ["nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"];

/** The names of Secrets, ConfigMaps or claims that a pod refers to. */
export function referencesOf(pod: KubeObject, plural: string): ReadonlySet<string> {
  const spec = record(fields(pod)["spec"]);
  const volumes = records(spec["volumes"]);
  const found =
    plural === "persistentvolumeclaims"
      ? volumes.map((v) => claimOf(pod, v))
      : plural === "secrets"
        ? [
            ...records(spec["imagePullSecrets"]).map((s) => s["name"]),
            ...volumes.flatMap(secretsOf),
            ...inContainers(spec, "secretRef", "secretKeyRef"),
          ]
        : plural === "configmaps"
          ? [
              ...volumes.flatMap((v) => sourcesOf(v, "configMap", "name")),
              ...inContainers(spec, "configMapRef", "configMapKeyRef"),
            ]
          : [];
  return new Set(found.map(text).filter(Boolean));
}

/** The claim of a volume that comes with its pod is named after both. */
function claimOf(pod: KubeObject, volume: Json): unknown {
  const claim = at(volume, "persistentVolumeClaim", "claimName");
  return claim ?? (volume["ephemeral"] ? `${pod.metadata.name}-${text(volume["name"])}` : undefined);
}

function secretsOf(volume: Json): unknown[] {
  return [
    ...sourcesOf(volume, "secret", "secretName"),
    ...SECRET_REFS.map((kind) => at(volume, kind, "secretRef", "name")),
    at(volume, "azureFile", "secretName"),
    at(volume, "csi", "nodePublishSecretRef", "name"),
  ];
}

/** What a volume is made of, itself or by projection, where the name is elsewhere. */
function sourcesOf(volume: Json, kind: string, name: string): unknown[] {
  const projected = records(at(volume, "projected", "sources")).map((source) => at(source, kind, "name"));
  return [at(volume, kind, name), ...projected];
}

function inContainers(spec: Json, whole: string, key: string): unknown[] {
  const containers = ["containers", "initContainers", "ephemeralContainers"].flatMap((kind) => records(spec[kind]));
  return containers.flatMap((container) => [
    ...records(container["envFrom"]).map((source) => at(source, whole, "name")),
    ...records(container["env"]).map((variable) => at(variable, "valueFrom", key, "name")),
  ]);
}

/**
 * Whether a kubelet that mounts a PersistentVolume needs this Secret. Without a namespace, the claim's counts, except
 * for CSI.
 */
export function namesSecret(
  volume: KubeObject,
  secret: { readonly namespace: string; readonly name: string },
): boolean {
  const spec = record(fields(volume)["spec"]);
  const claimed = text(at(spec, "claimRef", "namespace"));
  const isIt = (name: unknown, namespace: string): boolean => name === secret.name && namespace === secret.namespace;
  const refers = (reference: unknown, fallback: string): boolean =>
    isIt(at(reference, "name"), text(at(reference, "namespace")) || fallback);
  const azure = record(spec["azureFile"]);
  return (
    CSI_REFS.some((field) => refers(at(spec, "csi", field), "")) ||
    SECRET_REFS.some((kind) => refers(at(spec, kind, "secretRef"), claimed)) ||
    isIt(azure["secretName"], text(azure["secretNamespace"]) || claimed)
  );
}
