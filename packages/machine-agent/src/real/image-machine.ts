import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { dirname, join } from "node:path";
import type { Clock, Log } from "@causeway/foundation";
import type { BootPlan } from "../cloud-init.ts";
import type { BootedMachine } from "../interface.ts";
import { readBoot } from "../join.ts";
import { serviceWords } from "../service-words.ts";
import { furnish, linkVolumes, makeCgroup, writeOwn } from "./host.ts";
import { keepRunning, runOnce, type Program } from "./program.ts";
import { giveMetadata, importImages, isUp } from "./services.ts";
import {
  cgroupOf,
  containerdConfiguration,
  imageFolders,
  kubeletDropIn,
  networkTemplate,
  paths,
  type PodNetwork,
} from "./settings.ts";

/** A machine that boots from an image of its own: kubeadm, kubelet and an archive of images in `images`. */
export interface ImageMachineOptions {
  /** The folder with what the image holds. */
  readonly image: string;
  /** The folder that is the machine's disk. */
  readonly disk: string;
  readonly volumes?: string | undefined;
  readonly podNetwork?: PodNetwork;
  readonly clock: Clock;
  readonly log: Log;
}

const POLL = 100;

/**
 * Runs one machine as its image and its user data say, until the signal aborts: containerd, the kubelet as kubeadm's
 * package starts it, and once in its life the files and commands of cloud-init, with the kubeadm of the image. Needs
 * the same namespaces as a machine with a real kubelet.
 */
export async function runImageMachine(
  machine: BootedMachine,
  using: ImageMachineOptions,
  signal: AbortSignal,
): Promise<void> {
  const log = using.log.with({ machine: machine.name });
  const boot = readBoot(machine);
  await furnish(machine.name, using.disk, signal, imageFolders);
  if (using.volumes !== undefined) await linkVolumes(join(using.volumes, machine.id), signal);
  await giveMetadata(machine, log, signal);
  await makeCgroup(cgroupOf(machine), machine.resources.cpu);
  await writeFile("/proc/sys/net/ipv4/ip_forward", "1");
  const host = { cpu: cpus().length, memoryMiB: Math.floor(totalmem() / 1024 / 1024) };
  await writeOwn(paths.kubeletDropIn, kubeletDropIn(machine, host));
  await writeOwn(paths.containerdConfiguration, containerdConfiguration(using.podNetwork));
  await writeOwn(paths.networkTemplate, networkTemplate());
  const path = `${using.image}:${process.env["PATH"] ?? ""}`;
  const programs = { clock: using.clock, log };
  const containerd = { name: "containerd", file: "containerd", args: ["--config", paths.containerdConfiguration] };
  const running = [keepRunning(containerd, programs, signal)];
  if (await isUp(paths.containerdSocket, using.clock, signal)) {
    await importImages(join(using.image, "images"), { log, signal });
    running.push(keepKubelet(join(using.image, "kubelet"), programs, signal));
    running.push(bootOnce(boot, { ...programs, path }, signal));
  }
  await Promise.all(running);
}

/** cloud-init's part: what it has begun once, it does not begin again. */
async function bootOnce(
  boot: BootPlan,
  { path, log }: { readonly path: string; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  if (await exists(paths.booted)) return;
  for (const [file, content] of boot.files) await writeOwn(file, content);
  await mkdir(dirname(paths.booted), { recursive: true });
  await writeFile(paths.booted, "");
  // As runcmd: one shell, in which a command that fails does not keep the next from running.
  const script = ["set -x", ...boot.commands].join("\n");
  // A tenant's commands have nothing of this process's environment, which may have an operator's credentials.
  const env = { PATH: path, HOME: "/root", LANG: "C.UTF-8" };
  const program: Program = { name: "cloud-init", file: "/bin/sh", args: ["-c", script], env };
  const ended = await runOnce(program, signal);
  if (!signal.aborted) log.info("the commands of the user data have run", { ended, joined: await exists(SENTINEL) });
}

/** What a machine's commands write once kubeadm has succeeded (Cluster API, bootstrap contract). */
const SENTINEL = "/run/cluster-api/bootstrap-success.complete";

/** Starts the kubelet when kubeadm has written what it is started with, as its service does. */
async function keepKubelet(
  kubelet: string,
  using: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const needed = [paths.kubeletConfiguration, paths.kubeletFlags];
  while (!signal.aborted && !(await Promise.all(needed.map(exists))).every(Boolean))
    await using.clock.sleep(POLL, signal).catch(() => {});
  if (signal.aborted) return;
  const args = kubeletArguments(await readFile(paths.kubeletFlags, "utf8"));
  await keepRunning({ name: "kubelet", file: kubelet, args }, using, signal);
}

/** The kubelet's arguments in the service of kubeadm's package, with those that kubeadm wrote. */
export function kubeletArguments(environmentFile: string): string[] {
  const [, line = ""] = /^KUBELET_KUBEADM_ARGS="?(.*?)"?$/m.exec(environmentFile) ?? [];
  return [
    `--bootstrap-kubeconfig=${paths.bootstrapKubeconfig}`,
    `--kubeconfig=${paths.kubeconfig}`,
    `--config=${paths.kubeletConfiguration}`,
    `--config-dir=${dirname(paths.kubeletDropIn)}`,
    ...serviceWords(line),
  ];
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
