import { isAborted, messageOf, type Clock, type KeyPair, type Log } from "@causeway/foundation";
import { createClient, isUnauthorized, type KubernetesClient } from "@causeway/kubernetes";
import { heartbeat, register, reportStatus } from "./heartbeat.ts";
import type { Identity, IdentityStore } from "./identity.ts";
import type { BootedMachine } from "./interface.ts";
import { join, neverJoins, type Joined } from "./join.ts";
import type { JoinConfiguration } from "./join-configuration.ts";
import { playPods } from "./pods/play.ts";
import { keepServing, renewClient } from "./renewal.ts";

/** What a machine keeps on its disk, and the clock and log. */
export interface MachineOptions {
  readonly identity: IdentityStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Where in the time for renewal the machine renews its certificates, from 0 to 1. Default: at random. */
  readonly random?: number;
}

type KubeletContext = Required<MachineOptions> & { readonly signal: AbortSignal };

const aDay = 24 * 3600_000;

/**
 * Runs one machine until the signal aborts: boots, joins, registers its Node, and keeps it alive. Whatever fails is
 * tried again with growing pauses (0.25 s … 30 s), as systemd does with a kubelet that exits.
 */
export async function runMachine(machine: BootedMachine, using: MachineOptions, signal: AbortSignal): Promise<void> {
  const log = using.log.with({ machine: machine.name });
  const all: KubeletContext = { random: Math.random(), ...using, log, signal };
  let rejoin = false;
  for (let pause = 250; !signal.aborted; pause = Math.min(pause * 2, 30_000)) {
    try {
      const joined = await join(machine, { ...all, rejoin });
      await serve(machine, joined, { ...all, settled: () => (pause = 250) });
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (neverJoins(error)) {
        log.info("the machine does not join a cluster", { why: messageOf(error) });
        return idle(all);
      }
      // An identity that is not known may be an answer of the moment: it is kept until joining once more gives another.
      rejoin = !rejoin && isUnauthorized(error);
      if (!isAborted(error))
        log.warn("the machine's kubelet stopped and starts again", { error: messageOf(error), pause });
      await using.clock.sleep(pause, signal).catch(() => {});
    }
  }
}

/** A timer, so that a process with nothing else to do runs until its signal aborts. */
async function idle({ clock, signal }: KubeletContext): Promise<void> {
  while (!signal.aborted) await clock.sleep(aDay, signal).catch(() => {});
}

/** The Node from registration on: one session for each client certificate, as a kubelet closes its connections then. */
async function serve(
  machine: BootedMachine,
  joined: Joined,
  using: KubeletContext & { settled: () => void },
): Promise<void> {
  const kept = keepIdentity(using.identity, joined.identity);
  for (let first = true; ; first = false) {
    const renewed = await session(machine, { ...joined, kept }, { ...using, first });
    if (!renewed) return;
    await kept.change(renewed);
  }
}

/** A machine's identity as it is now, here and on its disk; changes are written one after the other. */
interface KeptIdentity {
  readonly identity: Identity;
  change(part: Partial<Identity>): Promise<void>;
}

function keepIdentity(store: IdentityStore, start: Identity): KeptIdentity {
  let identity = start;
  let saved = Promise.resolve();
  return {
    get identity() {
      return identity;
    },
    change(part) {
      identity = { ...identity, ...part };
      const save = () => store.save(identity);
      saved = saved.then(save, save);
      return saved;
    },
  };
}

interface SessionOf {
  readonly kept: KeptIdentity;
  readonly configuration: JoinConfiguration;
}

/** Ends with the next client certificate, or with undefined when the signal aborted. */
async function session(
  machine: BootedMachine,
  { kept, configuration }: SessionOf,
  using: KubeletContext & { readonly settled: () => void; readonly first: boolean },
): Promise<KeyPair | undefined> {
  const { identity } = kept;
  const { server, authority: ca, certificate, key } = identity;
  const client = createClient({ server, ca, certificate, key });
  const life = new AbortController();
  const within: KubeletContext = { ...using, signal: AbortSignal.any([using.signal, life.signal]) };
  try {
    const version = await serverVersion(client, within.signal);
    const reporting = { name: identity.nodeName, version, ...within };
    if (using.first) {
      await register(client, { identity, configuration }, within.signal);
      await reportStatus(client, machine, reporting);
    }
    using.settled();
    const addresses = machine.addresses.map((a) => a.address);
    const keep = (serving: KeyPair) => kept.change({ serving });
    const parts = [
      heartbeat(client, machine, reporting),
      playPods(
        client,
        { nodeName: identity.nodeName, machineId: machine.id, clock: using.clock, log: using.log },
        within.signal,
      ),
      keepServing(client, { identity, addresses }, { ...within, keep }),
    ];
    const renewed = renewClient(client, identity, within);
    try {
      return await Promise.race([renewed, failureOf(parts)]);
    } finally {
      life.abort();
      await Promise.allSettled([...parts, renewed]);
    }
  } finally {
    await client.close();
  }
}

/** Rejects with the first failure; never resolves, because a part that ends does not end the session. */
function failureOf(parts: readonly Promise<void>[]): Promise<never> {
  return new Promise((_, reject) => {
    for (const part of parts) part.catch(reject);
  });
}

async function serverVersion(client: KubernetesClient, signal: AbortSignal): Promise<string> {
  const answer = (await client.request("GET", "/version", { signal })) as { gitVersion?: string };
  return answer.gitVersion ?? "v1.34.0";
}
