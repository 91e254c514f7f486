import { isAborted, messageOf, type Clock, type Log } from "@causeway/foundation";
import {
  isAlreadyExists,
  isNotFound,
  isUnauthorized,
  Lease,
  microTimestamp,
  Node,
  type KubernetesClient,
} from "@causeway/kubernetes";
import type { BootedMachine } from "./interface.ts";
import type { Joined } from "./join.ts";
import { registeredNode, reportedStatus } from "./node-object.ts";

/** The kubelet's own figures: a lease of 40 s renewed every 10 s, status at least every 5 minutes. */
const leaseSeconds = 40;
const leaseInterval = 10_000;
const statusInterval = 5 * 60_000;

/** The node that is kept alive, and the version that its kubelet reports. */
export interface HeartbeatContext {
  readonly name: string;
  /** "v1.34.0" */
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Makes the Node unless it is there. */
export async function register(client: KubernetesClient, joined: Joined, signal: AbortSignal): Promise<void> {
  try {
    await client.create(Node, registeredNode(joined.identity.nodeName, joined.configuration), { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/**
 * Writes the status of the Node; its addresses only if it has none: the cloud controller owns them.
 * @throws KUBERNETES_NOT_FOUND when the Node is gone
 */
export async function reportStatus(
  client: KubernetesClient,
  machine: BootedMachine,
  reporting: HeartbeatContext,
): Promise<void> {
  const key = { namespace: "", name: reporting.name };
  const node = await client.get(Node, key, { signal: reporting.signal });
  const status = reportedStatus(machine, {
    name: reporting.name,
    version: reporting.version,
    now: reporting.clock.now(),
    before: node.status,
  });
  const { addresses, ...rest } = status;
  const body = { status: node.status?.addresses === undefined ? { addresses, ...rest } : rest };
  await client.patch(Node, key, { type: "strategic", body }, { subresource: "status", signal: reporting.signal });
}

/**
 * Keeps the Node alive until the signal aborts. A Node that was deleted is not recreated: a kubelet registers when
 * it starts, not later.
 * @throws KUBERNETES_UNAUTHORIZED when the cluster does not know this machine any more.
 */
export async function heartbeat(
  client: KubernetesClient,
  machine: BootedMachine,
  reporting: HeartbeatContext,
): Promise<void> {
  const { clock, log, signal } = reporting;
  let reported = clock.now();
  let renewed = clock.now();
  while (!signal.aborted) {
    try {
      await renewLease(client, reporting);
      // After a silence the cluster takes the node for lost.
      const wasSilent = clock.now() - renewed >= leaseSeconds * 1000;
      renewed = clock.now();
      if (wasSilent || clock.now() - reported >= statusInterval) {
        await reportStatus(client, machine, reporting);
        reported = clock.now();
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isUnauthorized(error)) throw error;
      if (!isAborted(error)) log.debug("heartbeat failed", { error: messageOf(error) });
    }
    await clock.sleep(leaseInterval, signal).catch(() => {});
  }
}

async function renewLease(client: KubernetesClient, reporting: HeartbeatContext): Promise<void> {
  const { name, clock, signal } = reporting;
  const key = { namespace: "kube-node-lease", name };
  const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: microTimestamp(clock.now()) };
  try {
    await client.patch(Lease, key, { type: "merge", body: { spec } }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await client.create(
      Lease,
      { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: key, spec },
      { signal },
    );
  }
}
