import { labels, OpenStackCluster, OpenStackServer } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import { addFinalizer, isAlreadyExists, keyOf, removeFinalizer } from "@causeway/kubernetes";
import {
  cloudIdentityAnnotation,
  clusterFinalizer,
  CONTENDED,
  ownerAnnotation,
  ownNetworkAnnotation,
  rulesAnnotation,
} from "../resources/naming.ts";
import { bastionHashAnnotation } from "./bastion-spec.ts";
import {
  emit,
  fieldManager,
  type ClusterPerformContext,
  type Performers,
  type SessionPerformContext,
} from "./perform-context.ts";
import { endpointSteps } from "./perform-endpoint.ts";
import type { ClusterStep } from "./steps.ts";
import { networkSteps } from "./perform-network.ts";
import { securityGroupSteps } from "./perform-security-groups.ts";

const kubernetesSteps: Performers<
  | "add-finalizer"
  | "remove-finalizer"
  | "record-endpoint"
  | "record-rules"
  | "record-contention"
  | "create-bastion"
  | "record-bastion"
  | "delete-bastion",
  ClusterPerformContext
> = {
  /** The finalizer comes after the note of the cloud, and both before the first resource. */
  async "add-finalizer"({ identity, owner }, { client, object }, signal) {
    const recorded = object.metadata.annotations;
    const notes = { [cloudIdentityAnnotation]: identity, ...(owner === undefined ? {} : { [ownerAnnotation]: owner }) };
    const body = { metadata: { annotations: notes } };
    const noted = Object.entries(notes).every(([key, value]) => recorded?.[key] === value)
      ? object
      : await client.patch(OpenStackCluster, keyOf(object), { type: "merge", body }, { signal, fieldManager });
    await addFinalizer(client, OpenStackCluster, noted, { finalizer: clusterFinalizer, signal });
  },
  async "remove-finalizer"({ account }, using, signal) {
    const { client, object } = using;
    // Nothing can be reported on the object once it is gone.
    emit(using, "DeletionCompleted", account);
    await removeFinalizer(client, OpenStackCluster, object, { finalizer: clusterFinalizer, signal });
  },
  async "record-rules"({ hashes }, { client, object }, signal) {
    const body = { metadata: { annotations: { [rulesAnnotation]: hashes === "" ? null : hashes } } };
    await client.patch(OpenStackCluster, keyOf(object), { type: "merge", body }, { signal, fieldManager });
  },
  async "record-contention"(_step, { client, object }, signal) {
    const body = { metadata: { annotations: { [ownNetworkAnnotation]: CONTENDED } } };
    await client.patch(OpenStackCluster, keyOf(object), { type: "merge", body }, { signal, fieldManager });
  },
  async "create-bastion"({ name, cluster, spec, hash }, using, signal) {
    const { client, object } = using;
    const { namespace = "", name: owner, uid = "" } = object.metadata;
    const server: OpenStackServer = {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
      kind: "OpenStackServer",
      metadata: {
        name,
        namespace,
        labels: { [labels.clusterName]: cluster },
        annotations: { [bastionHashAnnotation]: hash },
        ownerReferences: [{ apiVersion: object.apiVersion, kind: object.kind, name: owner, uid }],
      },
      spec,
    };
    await client.create(OpenStackServer, server, { signal, fieldManager }).catch((error: unknown) => {
      // An earlier attempt whose response was lost; the watch brings the object.
      if (!isAlreadyExists(error)) throw error;
    });
    emit(using, "SuccessfulCreateBastion", `Created OpenStackServer ${name}`);
  },
  async "record-bastion"({ name, hash }, { client, object }, signal) {
    const key = { ...keyOf(object), name };
    const body = { metadata: { annotations: { [bastionHashAnnotation]: hash } } };
    await client.patch(OpenStackServer, key, { type: "merge", body }, { signal, fieldManager });
  },
  async "delete-bastion"({ name }, using, signal) {
    const { client, object } = using;
    await client.delete(OpenStackServer, { ...keyOf(object), name }, { signal });
    emit(using, "SuccessfulDeleteBastion", `Deleting OpenStackServer ${name}`);
  },
  async "record-endpoint"({ host, port }, using, signal) {
    const body = { spec: { controlPlaneEndpoint: { host, port } } };
    const { client, object } = using;
    await client.patch(OpenStackCluster, keyOf(object), { type: "merge", body }, { signal, fieldManager });
    emit(using, "APIEndpointRecorded", `The API endpoint is ${host}:${port}`);
  },
};

const cloudSteps = { ...networkSteps, ...securityGroupSteps, ...endpointSteps };

/** Makes one step true. Each step may be repeated: what an attempt before has made is found again. */
export async function perform(step: ClusterStep, using: ClusterPerformContext, signal: AbortSignal): Promise<void> {
  if (isKubernetesStep(step)) {
    const perform = kubernetesSteps[step.type] as (
      s: ClusterStep,
      a: ClusterPerformContext,
      signal: AbortSignal,
    ) => Promise<void>;
    return perform(step, using, signal);
  }
  const { session } = using;
  if (!session) throw new CausewayError("IDENTITY_MISSING", "A step needs OpenStack, but there are no credentials");
  const perform = cloudSteps[step.type] as (
    s: ClusterStep,
    a: SessionPerformContext,
    signal: AbortSignal,
  ) => Promise<void>;
  return perform(step, { ...using, session }, signal);
}

type KubernetesStep = Extract<ClusterStep, { type: keyof typeof kubernetesSteps }>;

function isKubernetesStep(step: ClusterStep): step is KubernetesStep {
  return step.type in kubernetesSteps;
}
