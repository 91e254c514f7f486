import { IPAddress, IPAddressClaim, OpenStackFloatingIPPool } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import {
  addFinalizer,
  isAlreadyExists,
  isNotFound,
  removeFinalizer,
  type EventRecorder,
  type KubernetesClient,
} from "@causeway/kubernetes";
import type { Session } from "../identity/sessions.ts";
import type { PoolSources } from "./gather.ts";
import { addressFinalizer, poolFinalizer } from "./naming.ts";
import type { PoolStep } from "./steps.ts";

/** What the steps of a pool are performed. */
export interface PoolPerformContext {
  readonly object: OpenStackFloatingIPPool;
  readonly session: Session | undefined;
  readonly client: KubernetesClient;
  readonly events: EventRecorder;
  readonly sources: Pick<PoolSources, "claims" | "addresses">;
}

/** The field manager of a pool's status, its IPAddresses and the status of claims. */
export const fieldManager = "causeway-openstackfloatingippool";

/** Makes one step true. Each step may be repeated. */
export async function perform(step: PoolStep, using: PoolPerformContext, signal: AbortSignal): Promise<void> {
  const { client, object, sources } = using;
  const { namespace = "" } = object.metadata;
  switch (step.type) {
    case "add-finalizer":
      await addFinalizer(client, OpenStackFloatingIPPool, object, { finalizer: poolFinalizer, signal });
      return;
    case "remove-finalizer":
      await removeFinalizer(client, OpenStackFloatingIPPool, object, { finalizer: poolFinalizer, signal });
      return;
    case "create-address":
      return createAddress(step, using, signal);
    case "record-address": {
      const body = { status: { addressRef: { name: step.claim } } };
      const options = { subresource: "status", fieldManager, signal };
      await client.patch(IPAddressClaim, { namespace, name: step.claim }, { type: "merge", body }, options);
      return;
    }
    case "delete-address":
      return client.delete(IPAddress, { namespace, name: step.name }, { signal });
    case "release-address": {
      const address = sources.addresses.get({ namespace, name: step.name });
      if (!address) return;
      await removeFinalizer(client, IPAddress, address, { finalizer: addressFinalizer, signal }).catch(
        (error: unknown) => {
          if (!isNotFound(error)) throw error;
        },
      );
      return;
    }
    default:
      return performInCloud(step, using, signal);
  }
}

async function createAddress(
  { claim, address }: Extract<PoolStep, { type: "create-address" }>,
  { client, object, sources, events }: PoolPerformContext,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = "", name: pool } = object.metadata;
  const owner = sources.claims.get({ namespace, name: claim });
  if (!owner) return;
  const { apiVersion, kind, metadata } = owner;
  const body: IPAddress = {
    apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
    kind: "IPAddress",
    metadata: {
      name: claim,
      namespace,
      finalizers: [addressFinalizer],
      ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "" }],
    },
    spec: {
      address,
      prefix: 32,
      claimRef: { name: claim },
      poolRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackFloatingIPPool", name: pool },
    },
  };
  await client.create(IPAddress, body, { fieldManager, signal }).catch((error: unknown) => {
    // An earlier attempt whose response was lost; the watch brings the object, with the address that it has.
    if (!isAlreadyExists(error)) throw error;
  });
  events.event(object, { type: "Normal", reason: "AddressClaimed", message: `IPAddressClaim ${claim} has ${address}` });
}

type CloudStep = Extract<PoolStep, { type: "create-floating-ip" | "tag-floating-ip" | "delete-floating-ip" }>;

async function performInCloud(step: CloudStep, using: PoolPerformContext, signal: AbortSignal): Promise<void> {
  const { session, object, events } = using;
  if (!session) throw new CausewayError("IDENTITY_MISSING", "A step needs OpenStack, but there are no credentials");
  const { cloud, watch } = session;
  const { floatingIps } = cloud.network;
  const emit = (reason: string, message: string) => events.event(object, { type: "Normal", reason, message });
  switch (step.type) {
    case "create-floating-ip": {
      const { body, known } = step;
      // Of an attempt whose response was lost: one with the mark that neither the plan nor an earlier step of it knows.
      const recover = async () =>
        (await floatingIps.all({ floating_network_id: body.floating_network_id }, { signal })).find(
          (ip) =>
            ip.description === body.description && !known.includes(ip.id) && watch.floatingIps.get(ip.id) === undefined,
        );
      const made = await floatingIps.create(body, { signal, recover });
      watch.floatingIps.observe(made);
      return emit("SuccessfulCreateFloatingIP", `Created floating IP ${made.floating_ip_address} with id ${made.id}`);
    }
    case "tag-floating-ip": {
      await cloud.network.setTags("floatingips", step.id, step.tags, { signal });
      const ip = watch.floatingIps.get(step.id);
      if (ip) watch.floatingIps.observe({ ...ip, tags: step.tags });
      return;
    }
    case "delete-floating-ip":
      await floatingIps.delete(step.id, { signal });
      watch.floatingIps.forget(step.id);
      return emit("SuccessfulDeleteFloatingIP", `Deleted floating IP ${step.address}`);
  }
}
