import type { Clock, Log } from "@causeway/foundation";
import { createClient } from "@causeway/kubernetes";
import { readCloudConfig } from "./cloud-init.ts";
import { discoverAuthority } from "./discovery.ts";
import type { Identity, IdentityStore } from "./identity.ts";
import type { BootedMachine } from "./interface.ts";
import { joinConfiguration, type JoinConfiguration } from "./join-configuration.ts";
import { requestCertificate } from "./certificates.ts";

export interface JoinUsing {
  readonly identity: IdentityStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface Joined {
  readonly identity: Identity;
  readonly configuration: JoinConfiguration;
}

/**
 * What cloud-init, kubeadm join and the kubelet's TLS bootstrap do, once: read the user data, prove the cluster, get a
 * client certificate for system:node:NAME. A machine that has joined before goes on with what it kept.
 */
export async function join(machine: BootedMachine, using: JoinUsing): Promise<Joined> {
  const boot = readCloudConfig(machine.userData, { hostname: machine.name, instanceId: machine.id });
  const configuration = joinConfiguration(boot);
  const kept = await using.identity.load(using.clock.now());
  if (kept && kept.server === configuration.server) return { identity: kept, configuration };
  const nodeName = configuration.nodeName ?? machine.name;
  using.log.info("joining", { machine: machine.name, server: configuration.server });
  const authority = await discoverAuthority(configuration, using.signal);
  const client = createClient({ server: configuration.server, ca: authority, token: configuration.token });
  try {
    const { certificate, key } = await requestCertificate(
      client,
      {
        signer: "kubernetes.io/kube-apiserver-client-kubelet",
        subject: { commonName: `system:node:${nodeName}`, organizations: ["system:nodes"] },
        usages: ["digital signature", "client auth"],
      },
      using,
    );
    const identity: Identity = { nodeName, server: configuration.server, authority, certificate, key };
    await using.identity.save(identity);
    return { identity, configuration };
  } finally {
    await client.close();
  }
}
