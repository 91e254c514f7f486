import type { PersistentVolumeClaim, Plan, StorageClass } from "@causeway/kubernetes";
import { capabilityOf } from "../capability.ts";
import { annotation, DEFAULT_FS_TYPE, FS_TYPE, PREFIX } from "../names.ts";
import { bytesOfQuantity } from "../quantity.ts";
import { volumeName, type Observed } from "./gather.ts";
import type { CreateRequest, Step, VolumeTemplate } from "./steps.ts";

/** How long (ms) a claim waits before what it needs is read again. */
const AGAIN = 15_000;

/** One volume for each claim that asks this driver for it. */
export function plan(observed: Observed, now: number): Plan<Step, undefined> {
  const { claim, pending, driver } = observed;
  const none: Plan<Step, undefined> = { steps: [], status: undefined };
  const isWanted = claim !== undefined && isAsked(claim, [driver.name, driver.migration?.provisioner]);
  if (pending && !(claim?.spec.volumeName || (isWanted && pending.name === volumeName(claim)))) {
    return { ...none, steps: [{ type: "abandon", name: pending.name ?? "", request: pending }] };
  }
  return isWanted && !observed.volume ? planWanted(observed, claim, now) : none;
}

function planWanted(observed: Observed, claim: PersistentVolumeClaim, now: number): Plan<Step, undefined> {
  const { driver, storageClass, source } = observed;
  const { namespace, name, annotations } = claim.metadata;
  if (storageClass?.provisioner !== driver.name)
    return waiting(`StorageClass ${claim.spec.storageClassName} is not there`, now);
  const waitsForNode = isDelayed(storageClass) && annotations?.[annotation.selectedNode] === undefined;
  if (waitsForNode || source.type === "other") return { steps: [], status: undefined };
  const problem = problemOf(observed, claim);
  if (problem !== undefined) return waiting(problem, now);
  const step: Step = {
    type: "provision",
    name: volumeName(claim),
    request: requestOf(observed, claim, storageClass),
    template: templateOf(claim, storageClass, driver.name),
  };
  const message = `External provisioner is provisioning volume for claim "${namespace}/${name}"`;
  return { steps: [step], status: undefined, events: [{ type: "Normal", reason: "Provisioning", message }] };
}

function isAsked({ metadata, spec }: PersistentVolumeClaim, names: readonly (string | undefined)[]): boolean {
  const asked = metadata.annotations?.[annotation.provisioner] ?? metadata.annotations?.[annotation.betaProvisioner];
  return !spec.volumeName && metadata.deletionTimestamp === undefined && asked !== undefined && names.includes(asked);
}

const isDelayed = ({ volumeBindingMode }: StorageClass): boolean => volumeBindingMode === "WaitForFirstConsumer";

function problemOf({ source, attributes, topology }: Observed, { spec }: PersistentVolumeClaim): string | undefined {
  if (spec.selector) return "claims with a selector are not provisioned";
  if (bytesOfQuantity(spec.resources?.requests?.["storage"]) === undefined) return "the claim requests no size";
  if (source.type === "waiting") return source.why;
  if (attributes.type === "waiting") return attributes.why;
  return topology.type === "waiting" ? topology.why : undefined;
}

function waiting(why: string, now: number): Plan<Step, undefined> {
  const message = `failed to provision volume: ${why}`;
  return {
    steps: [],
    status: undefined,
    wait: { for: why, until: now + AGAIN },
    events: [{ type: "Warning", reason: "ProvisioningFailed", message }],
  };
}

function requestOf(
  { driver, source, attributes, topology }: Observed,
  claim: PersistentVolumeClaim,
  { parameters = {}, mountOptions = [] }: StorageClass,
): CreateRequest {
  const { metadata, spec } = claim;
  const own = Object.entries(parameters).filter(([key]) => !key.startsWith(PREFIX));
  const name = volumeName(claim);
  const { singleNodeMultiWriter = false, secrets = {} } = driver;
  const facts = {
    accessModes: spec.accessModes ?? [],
    volumeMode: spec.volumeMode,
    mountOptions,
    singleNodeMultiWriter,
  };
  return {
    name,
    capacityRange: {
      requiredBytes: bytesOfQuantity(spec.resources?.requests?.["storage"]) ?? 0n,
      limitBytes: bytesOfQuantity(spec.resources?.limits?.["storage"]) ?? 0n,
    },
    volumeCapabilities: [capabilityOf({ ...facts, fsType: parameters[FS_TYPE] ?? DEFAULT_FS_TYPE })],
    parameters: {
      ...Object.fromEntries(own),
      [`${PREFIX}pvc/name`]: metadata.name,
      [`${PREFIX}pvc/namespace`]: metadata.namespace ?? "",
      [`${PREFIX}pv/name`]: name,
    },
    secrets: { ...secrets },
    ...(attributes.type === "known" && { mutableParameters: { ...attributes.parameters } }),
    ...(topology.type === "known" && {
      accessibilityRequirements: {
        requisite: [...topology.topologies.requisite],
        preferred: [...topology.topologies.preferred],
      },
    }),
    ...contentOf(source),
  };
}

function contentOf(source: Observed["source"]): Pick<CreateRequest, "volumeContentSource"> {
  if (source.type === "snapshot") {
    return { volumeContentSource: { type: { case: "snapshot", value: { snapshotId: source.snapshotId } } } };
  }
  if (source.type === "volume") {
    return { volumeContentSource: { type: { case: "volume", value: { volumeId: source.volumeId } } } };
  }
  return {};
}

function templateOf(claim: PersistentVolumeClaim, storageClass: StorageClass, driver: string): VolumeTemplate {
  const { metadata, spec } = claim;
  const { namespace = "", name, uid = "", resourceVersion = "" } = metadata;
  const { mountOptions = [], parameters = {} } = storageClass;
  const isBlock = spec.volumeMode === "Block";
  return {
    metadata: { name: volumeName(claim), annotations: { [annotation.provisionedBy]: driver } },
    spec: {
      accessModes: spec.accessModes ?? [],
      volumeMode: spec.volumeMode ?? "Filesystem",
      storageClassName: storageClass.metadata.name,
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      ...(mountOptions.length > 0 && { mountOptions }),
      ...(spec.volumeAttributesClassName && { volumeAttributesClassName: spec.volumeAttributesClassName }),
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid, resourceVersion },
    },
    fsType: isBlock ? undefined : (parameters[FS_TYPE] ?? DEFAULT_FS_TYPE),
  };
}
