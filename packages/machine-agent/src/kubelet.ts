import { hasCode, isAborted, messageOf, type Clock, type Log } from "@causeway/foundation";
import {
  createClient,
  isAlreadyExists,
  isNotFound,
  isUnauthorized,
  Lease,
  Node,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { requestCertificate } from "./certificates.ts";
import type { IdentityStore } from "./identity.ts";
import type { BootedMachine } from "./interface.ts";
import { join, type Joined } from "./join.ts";
import { registeredNode, reportedStatus } from "./node-object.ts";

export interface MachineUsing {
  readonly identity: IdentityStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** The kubelet's own figures: a lease of 40 s renewed every 10 s, status at least every 5 minutes. */
const leaseSeconds = 40;
const leaseInterval = 10_000;
const statusInterval = 5 * 60_000;

/**
 * Runs one machine until the signal aborts: boots, joins, registers its Node, and keeps it alive. Whatever fails is
 * tried again with growing pauses (1 s … 30 s), as systemd does with a kubelet that exits.
 */
export async function runMachine(machine: BootedMachine, using: MachineUsing, signal: AbortSignal): Promise<void> {
  const log = using.log.with({ machine: machine.name });
  for (let pause = 250; !signal.aborted; pause = Math.min(pause * 2, 30_000)) {
    try {
      const joined = await join(machine, { ...using, log, signal });
      await serve(machine, joined, { ...using, log, signal });
      return;
    } catch (error) {
      if (signal.aborted || isAborted(error)) return;
      if (neverJoins(error)) {
        log.info("the machine does not join a cluster", { why: messageOf(error) });
        return aborted(signal);
      }
      if (isUnauthorized(error)) await using.identity.forget();
      log.warn("the machine's kubelet stopped and starts again", { error: messageOf(error), pause });
      await using.clock.sleep(pause, signal).catch(() => {});
    }
  }
}

/** User data stays what it is: trying again would find the same. */
function neverJoins(error: unknown): boolean {
  return (
    hasCode(error, "MACHINE_NOT_JOINING") ||
    hasCode(error, "MACHINE_USER_DATA_INVALID") ||
    hasCode(error, "MACHINE_JOIN_INVALID")
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function serve(
  machine: BootedMachine,
  joined: Joined,
  using: MachineUsing & { signal: AbortSignal },
): Promise<void> {
  const { identity } = joined;
  const client = createClient({
    server: identity.server,
    ca: identity.authority,
    certificate: identity.certificate,
    key: identity.key,
  });
  try {
    const version = await serverVersion(client, using.signal);
    await register(client, joined, using.signal);
    await reportStatus(client, machine, { name: identity.nodeName, version, ...using });
    const life = new AbortController();
    const signal = AbortSignal.any([using.signal, life.signal]);
    const serving = requestServing(client, machine, identity.nodeName, { ...using, signal });
    try {
      await heartbeat(client, machine, { name: identity.nodeName, version, ...using });
    } finally {
      life.abort();
      await serving;
    }
  } finally {
    await client.close();
  }
}

async function serverVersion(client: KubernetesClient, signal: AbortSignal): Promise<string> {
  const answer = (await client.request("GET", "/version", { signal })) as { gitVersion?: string };
  return answer.gitVersion ?? "v1.34.0";
}

async function register(client: KubernetesClient, joined: Joined, signal: AbortSignal): Promise<void> {
  try {
    await client.create(Node, registeredNode(joined.identity.nodeName, joined.configuration), { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

type Reporting = {
  readonly name: string;
  readonly version: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

async function reportStatus(client: KubernetesClient, machine: BootedMachine, reporting: Reporting): Promise<void> {
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

/** A Node that somebody deleted is not made again: a kubelet registers when it starts, not later. */
async function heartbeat(
  client: KubernetesClient,
  machine: BootedMachine,
  reporting: Reporting & { log: Log },
): Promise<void> {
  let reported = reporting.clock.now();
  for (;;) {
    try {
      await renewLease(client, reporting);
      if (reporting.clock.now() - reported >= statusInterval) {
        await reportStatus(client, machine, reporting);
        reported = reporting.clock.now();
      }
    } catch (error) {
      if (reporting.signal.aborted) return;
      reporting.log.debug("heartbeat failed", { error: messageOf(error) });
    }
    await reporting.clock.sleep(leaseInterval, reporting.signal).catch(() => {});
    if (reporting.signal.aborted) return;
  }
}

async function renewLease(client: KubernetesClient, reporting: Reporting): Promise<void> {
  const key = { namespace: "kube-node-lease", name: reporting.name };
  const renewTime = `${new Date(reporting.clock.now()).toISOString().slice(0, -1)}000Z`;
  const spec = { holderIdentity: reporting.name, leaseDurationSeconds: leaseSeconds, renewTime };
  const options = { signal: reporting.signal };
  try {
    await client.patch(Lease, key, { type: "merge", body: { spec } }, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await client.create(Lease, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: key, spec }, options);
  }
}

/** Serving certificates name addresses, so they are asked for once the cloud controller has written those. */
async function requestServing(
  client: KubernetesClient,
  machine: BootedMachine,
  name: string,
  using: MachineUsing & { signal: AbortSignal },
): Promise<void> {
  const ipAddresses = machine.addresses.map((a) => a.address);
  if (ipAddresses.length === 0) return;
  try {
    await requestCertificate(
      client,
      {
        signer: "kubernetes.io/kubelet-serving",
        subject: { commonName: `system:node:${name}`, organizations: ["system:nodes"], dnsNames: [name], ipAddresses },
        usages: ["digital signature", "server auth"],
      },
      using,
    );
  } catch (error) {
    if (!using.signal.aborted) using.log.warn("no serving certificate", { error: messageOf(error) });
  }
}
