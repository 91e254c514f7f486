import { hasCode, type Clock, type Log } from "@causeway/foundation";
import { createClient } from "@causeway/kubernetes";
import { requestCertificate, clientWish } from "./certificates.ts";
import { readCloudConfig, type BootPlan } from "./cloud-init.ts";
import { discoverAuthority } from "./discovery.ts";
import type { Identity, IdentityStore } from "./identity.ts";
import type { BootedMachine } from "./interface.ts";
import { joinConfiguration, type JoinConfiguration } from "./join-configuration.ts";

/** Where a machine keeps its identity, and whether it has to join again. */
export interface JoinContext {
  readonly identity: IdentityStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Joins as if for the first time. What was kept is replaced only once that has succeeded. */
  readonly rejoin: boolean;
}

/** A machine that has joined: its certificate, and how its user data says that it joins. */
export interface Joined {
  readonly identity: Identity;
  readonly configuration: JoinConfiguration;
}

/**
 * How a machine joins, from its user data alone.
 * @throws MACHINE_USER_DATA_INVALID, MACHINE_NOT_JOINING, MACHINE_JOIN_INVALID: it never will.
 */
export function readJoin(machine: BootedMachine): JoinConfiguration {
  return joinConfiguration(readBoot(machine));
}

/**
 * What a machine's user data says that it does at its first boot.
 * @throws MACHINE_USER_DATA_INVALID
 */
export function readBoot({ userData, name, id }: BootedMachine): BootPlan {
  return readCloudConfig(userData, { hostname: name, instanceId: id });
}

/**
 * What cloud-init, kubeadm join and the kubelet's TLS bootstrap do, once: read the user data, prove the cluster, get a
 * client certificate for system:node:NAME. A machine that has joined before continues with what it kept.
 */
export async function join(machine: BootedMachine, using: JoinContext): Promise<Joined> {
  const configuration = readJoin(machine);
  const kept = using.rejoin ? undefined : await using.identity.load(using.clock.now());
  if (kept && kept.server === configuration.server) return { identity: kept, configuration };
  const nodeName = configuration.nodeName ?? machine.name;
  using.log.info("joining", { server: configuration.server });
  const authority = await discoverAuthority(configuration, using.signal);
  const client = createClient({ server: configuration.server, ca: authority, token: configuration.token });
  try {
    const { certificate, key } = await requestCertificate(client, clientWish(nodeName), using);
    const identity: Identity = { nodeName, server: configuration.server, authority, certificate, key };
    await using.identity.save(identity);
    return { identity, configuration };
  } finally {
    await client.close();
  }
}

/** User data remains what it is: trying again would find the same. */
export function neverJoins(error: unknown): boolean {
  return (
    hasCode(error, "MACHINE_NOT_JOINING") ||
    hasCode(error, "MACHINE_USER_DATA_INVALID") ||
    hasCode(error, "MACHINE_JOIN_INVALID")
  );
}
