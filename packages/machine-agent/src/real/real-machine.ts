import { readFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { join as joinPath } from "node:path";
import { messageOf, readCertificate, type Clock, type Log } from "@causeway/foundation";
import { isUnauthorized } from "@causeway/kubernetes";
import type { Identity, IdentityStore } from "../identity.ts";
import type { BootedMachine } from "../interface.ts";
import { join, neverJoins, type Joined } from "../join.ts";
import { furnish, linkVolumes, makeCgroup, writeOwn } from "./host.ts";
import { keepRunning } from "./program.ts";
import { giveMetadata, importImages, isUp } from "./services.ts";
import {
  cgroupOf,
  containerdConfiguration,
  kubeletConfiguration,
  kubeletFlags,
  kubeletKubeconfig,
  networkTemplate,
  paths,
  type PodNetwork,
} from "./settings.ts";

/** The programs and images that a machine with a real kubelet runs. */
export interface RealPrograms {
  /** The kubelet's program. */
  readonly kubelet: string;
  /** A folder of archives of images, which each machine imports, since there may be no registry. */
  readonly images?: string | undefined;
  /**
   * A folder in which SERVER/by-id has links to the devices of a server's volumes, which the machine has in
   * /dev/disk/by-id.
   */
  readonly volumes?: string | undefined;
}

/** The disk and programs of a machine with a real kubelet. */
export interface RealMachineOptions {
  readonly identity: IdentityStore;
  /** The folder that is the machine's disk. */
  readonly disk: string;
  readonly programs: RealPrograms;
  /** Default: routes. */
  readonly podNetwork?: PodNetwork;
  readonly clock: Clock;
  readonly log: Log;
}

const LONGEST = 30_000;

/**
 * Runs one machine with a real containerd and kubelet until the signal aborts. It must be process 1 (or a child of it)
 * of namespaces of its own for mounts, processes and the host name, in the network namespace of its server, as root:
 * all that runs ends with that process 1.
 */
export async function runRealMachine(
  machine: BootedMachine,
  using: RealMachineOptions,
  signal: AbortSignal,
): Promise<void> {
  const log = using.log.with({ machine: machine.name });
  const joined = await joinPatiently(machine, { ...using, log }, signal);
  if (joined === undefined) return;
  const { identity, configuration } = joined;
  await furnish(machine.name, using.disk, signal);
  if (using.programs.volumes !== undefined) await linkVolumes(joinPath(using.programs.volumes, machine.id), signal);
  await giveMetadata(machine, log, signal);
  await makeCgroup(cgroupOf(machine), machine.resources.cpu);
  await writeIdentity(identity, using.clock.now());
  const host = { cpu: cpus().length, memoryMiB: Math.floor(totalmem() / 1024 / 1024) };
  await writeOwn(paths.kubeletConfiguration, kubeletConfiguration(machine, configuration, host));
  await writeOwn(paths.containerdConfiguration, containerdConfiguration(using.podNetwork));
  await writeOwn(paths.networkTemplate, networkTemplate());
  const programs = { clock: using.clock, log };
  const containerd = { name: "containerd", file: "containerd", args: ["--config", paths.containerdConfiguration] };
  const running = [keepRunning(containerd, programs, signal)];
  if (await isUp(paths.containerdSocket, using.clock, signal)) {
    await importImages(using.programs.images, { log, signal });
    log.info("a real kubelet starts", { node: identity.nodeName, server: identity.server });
    const flags = kubeletFlags(identity.nodeName, configuration);
    running.push(keepRunning({ name: "kubelet", file: using.programs.kubelet, args: flags }, programs, signal));
  }
  await Promise.all(running);
}

/** Joins, again and again with growing pauses; undefined when the user data joins no cluster, or the signal aborted. */
async function joinPatiently(
  machine: BootedMachine,
  using: Pick<RealMachineOptions, "identity" | "clock" | "log">,
  signal: AbortSignal,
): Promise<Joined | undefined> {
  let rejoin = false;
  for (let pause = 250; !signal.aborted; pause = Math.min(pause * 2, LONGEST)) {
    try {
      return await join(machine, { ...using, signal, rejoin });
    } catch (error) {
      if (signal.aborted) return undefined;
      if (neverJoins(error)) throw error;
      rejoin = !rejoin && isUnauthorized(error);
      using.log.warn("the machine cannot join yet", { error: messageOf(error), pause });
      await using.clock.sleep(pause, signal).catch(() => {});
    }
  }
  return undefined;
}

/** The kubelet renews the certificate in its file: what is there and valid remains. */
async function writeIdentity(identity: Identity, now: number): Promise<void> {
  await writeOwn(paths.authority, identity.authority);
  await writeOwn(paths.kubeconfig, kubeletKubeconfig(identity.server, identity.authority));
  const kept = await readFile(paths.clientCertificate, "utf8").catch(() => undefined);
  if (kept !== undefined && isValid(kept, now)) return;
  await writeOwn(paths.clientCertificate, `${identity.certificate.trimEnd()}\n${identity.key.trimEnd()}\n`);
}

function isValid(pem: string, now: number): boolean {
  try {
    return readCertificate(pem).notAfter > now;
  } catch {
    return false;
  }
}
