import type { Plan, PlannedEvent } from "@causeway/kubernetes";
import { targetOf } from "../objects/claim.ts";
import {
  annotation,
  claimFinalizer,
  claimsInUse,
  noProvisioner,
  refersTo,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from "../objects/storage.ts";
import { bestVolume, whyUnfit } from "../objects/volume-match.ts";
import { defaultOf } from "./default-class.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

type ClaimPlan = Plan<Step, undefined>;

/**
 * Binds a claim to a volume, or asks for one, and keeps it while pods use it: what kube-controller-manager does with
 * claims.
 */
export function plan(observed: Observed): ClaimPlan {
  const protection = protectionOf(observed);
  if (protection) return does(protection);
  const { claim } = observed;
  if (claim.metadata.annotations?.[annotation.bindCompleted] !== undefined) return bound(observed);
  if (claim.metadata.deletionTimestamp !== undefined) return does();
  return claim.spec.volumeName ? named(observed) : unnamed(observed);
}

/**
 * A claim is kept while a pod with a node uses it. A pod that is deleted in the foreground waits for the claims of its
 * ephemeral volumes.
 */
function protectionOf({ claim, pods }: Observed): Step | undefined {
  const { deletionTimestamp, finalizers = [] } = claim.metadata;
  const isProtected = finalizers.includes(claimFinalizer);
  if (deletionTimestamp === undefined) return isProtected ? undefined : { type: "protect" };
  const { namespace, name } = claim.metadata;
  const isUsed = pods.some((pod) => pod.spec.nodeName && claimsInUse(pod).includes(`${namespace}/${name}`));
  return isProtected && !isUsed ? { type: "unprotect" } : undefined;
}

/** The claim was bound before: it is Bound, or its volume is lost. */
function bound({ claim, volume }: Observed): ClaimPlan {
  if (!claim.spec.volumeName)
    return lost(claim, "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
  if (!volume)
    return lost(claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
  if (!volume.spec.claimRef) return bind(claim, volume);
  if (volume.spec.claimRef.uid !== claim.metadata.uid) {
    return lost(claim, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly");
  }
  return bind(claim, volume);
}

/** The user, or an earlier attempt, chose the volume. */
function named({ claim, volume }: Observed): ClaimPlan {
  if (!volume) return pending(claim);
  const { name } = volume.metadata;
  if (volume.spec.claimRef && !refersTo(volume, claim)) {
    return pending(
      claim,
      warning("FailedBinding", `volume ${JSON.stringify(name)} already bound to a different claim.`),
    );
  }
  const why = volume.spec.claimRef ? undefined : whyUnfit(volume, claim);
  if (why !== undefined) {
    return pending(claim, warning("VolumeMismatch", `Cannot bind to requested volume ${JSON.stringify(name)}: ${why}`));
  }
  return bind(claim, volume);
}

function unnamed(observed: Observed): ClaimPlan {
  const { claim, storageClass, classes, volumes, pods } = observed;
  const { storageClassName } = claim.spec;
  const isSelected = claim.metadata.annotations?.[annotation.selectedNode] !== undefined;
  const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  // The scheduler chooses volumes where a node is waited for; what names the claim was chosen.
  const volume = bestVolume(claim, waits ? volumes.filter((one) => refersTo(one, claim)) : volumes);
  if (volume) return bind(claim, volume);
  const defaultClass = storageClassName === undefined ? defaultOf(classes) : undefined;
  if (defaultClass) {
    return does({ type: "set-class", storageClass: defaultClass.metadata.name });
  }
  if (waits && !isSelected) {
    const pod = pods.find(({ spec }) => !spec.nodeName);
    return pending(
      claim,
      pod
        ? normal("WaitForPodScheduled", `waiting for pod ${pod.metadata.name} to be scheduled`)
        : normal("WaitForFirstConsumer", "waiting for first consumer to be created before binding"),
    );
  }
  return storageClassName ? provision(observed, storageClassName) : pending(claim, unavailable);
}

const unavailable = normal(
  "FailedBinding",
  "no persistent volumes available for this claim and no storage class is set",
);

/** In-tree drivers, and the CSI drivers that serve their StorageClasses (KEP-625). */
const MIGRATED: Readonly<Record<string, string>> = {
  "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
  "kubernetes.io/azure-disk": "disk.csi.azure.com",
  "kubernetes.io/azure-file": "file.csi.azure.com",
  "kubernetes.io/cinder": "cinder.csi.openstack.org",
  "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
  "kubernetes.io/portworx-volume": "pxd.portworx.com",
  "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
};

function provision({ claim, storageClass }: Observed, name: string): ClaimPlan {
  if (!storageClass) {
    const message = `storageclass.storage.k8s.io ${JSON.stringify(name)} not found`;
    return pending(claim, warning("ProvisioningFailed", message));
  }
  const provisioner = MIGRATED[storageClass.provisioner] ?? storageClass.provisioner;
  if (provisioner === noProvisioner || provisioner.startsWith("kubernetes.io/")) {
    return pending(claim, warning("ProvisioningFailed", "no volume plugin matched"));
  }
  if (claim.metadata.annotations?.[annotation.provisioner] !== provisioner)
    return does({ type: "set-provisioner", provisioner });
  const message =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. ` +
    "If volume creation is delayed, please verify that the provisioner is running and correctly registered.";
  return pending(claim, normal("ExternalProvisioning", message));
}

/** Both sides name each other, the volume first; then the claim is Bound. */
function bind(claim: PersistentVolumeClaim, volume: PersistentVolume): ClaimPlan {
  const { claimRef, accessModes, capacity } = volume.spec;
  if (claimRef?.uid !== claim.metadata.uid) {
    const { resourceVersion } = volume.metadata;
    return does({
      type: "reserve-volume",
      volume: targetOf(volume),
      resourceVersion,
      chosenHere: claimRef === undefined,
    });
  }
  const isCompleted = claim.metadata.annotations?.[annotation.bindCompleted] !== undefined;
  if (claim.spec.volumeName !== volume.metadata.name || !isCompleted) {
    return does({ type: "bind-claim", volume: volume.metadata.name, chosenHere: !claim.spec.volumeName });
  }
  if (claim.status?.phase === "Bound") return does();
  return does({
    type: "set-status",
    phase: "Bound",
    ...(accessModes ? { accessModes } : {}),
    ...(capacity ? { capacity } : {}),
  });
}

function pending(claim: PersistentVolumeClaim, event?: PlannedEvent): ClaimPlan {
  const steps: Step[] = claim.status?.phase === "Pending" ? [] : [{ type: "set-status", phase: "Pending" }];
  return { steps, status: undefined, ...(event ? { events: [event] } : {}) };
}

function lost(claim: PersistentVolumeClaim, reason: string, message: string): ClaimPlan {
  if (claim.status?.phase === "Lost") return does();
  return { steps: [{ type: "set-status", phase: "Lost" }], status: undefined, events: [warning(reason, message)] };
}

function does(...steps: readonly Step[]): ClaimPlan {
  return { steps, status: undefined };
}

function normal(reason: string, message: string): PlannedEvent {
  return { type: "Normal", reason, message };
}

function warning(reason: string, message: string): PlannedEvent {
  return { type: "Warning", reason, message };
}
