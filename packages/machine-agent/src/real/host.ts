import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { BOOT_FOLDERS, DISK_FOLDERS, type MachineFolders } from "./settings.ts";

const execute = promisify(execFile);
const CGROUPS = "/sys/fs/cgroup";

/** Runs a program of the host to its end; its standard output. */
export async function command(file: string, args: readonly string[], signal?: AbortSignal): Promise<string> {
  const { stdout } = await execute(file, [...args], { signal, maxBuffer: 4 * 1024 * 1024 });
  return stdout;
}

/**
 * Makes this process's mount namespace a machine's: its own name, its folders from its disk, and those of a boot empty.
 */
export async function furnish(
  name: string,
  disk: string,
  signal: AbortSignal,
  folders: MachineFolders = { onDisk: DISK_FOLDERS, ofBoot: BOOT_FOLDERS },
): Promise<void> {
  // Volumes that a container mounts for others are seen by them only where mounts are shared.
  await command("mount", ["--make-rshared", "/"], signal);
  await command("hostname", [name], signal);
  for (const folder of folders.onDisk) {
    const own = join(disk, "root", folder);
    await mkdir(own, { recursive: true });
    await mkdir(folder, { recursive: true });
    await command("mount", ["--bind", own, folder], signal);
    await command("mount", ["--make-rshared", folder], signal);
  }
  for (const folder of folders.ofBoot) {
    await mkdir(folder, { recursive: true });
    await command("mount", ["-t", "tmpfs", "-o", "mode=0711", "machine", folder], signal);
    await command("mount", ["--make-rshared", folder], signal);
  }
}

/**
 * Makes the links to a server's volumes the machine's /dev/disk/by-id. Volumes that are attached later appear there.
 */
export async function linkVolumes(server: string, signal: AbortSignal): Promise<void> {
  const [own, seen] = [join(server, "by-id"), "/dev/disk/by-id"];
  await mkdir(own, { recursive: true });
  await mkdir(seen, { recursive: true });
  await command("mount", ["--bind", own, seen], signal);
}

/** Writes a file that only root reads, and the folders above it. */
export async function writeOwn(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode: 0o600 });
  await chmod(path, 0o600);
}

/** Makes the cgroup of a machine with so many processors in every controller of cgroup v1. */
export async function makeCgroup(cgroup: string, processors: number): Promise<void> {
  for (const controller of await controllers()) await mkdir(join(CGROUPS, controller, cgroup), { recursive: true });
  // A cgroup of cpuset has no processors of its own until it is given some.
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    let above = join(CGROUPS, "cpuset");
    for (const part of cgroup.split("/").filter((p) => p !== "")) {
      const value = await readFile(join(above, file), "utf8").catch(() => "");
      above = join(above, part);
      if (value.trim() !== "") await writeFile(join(above, file), value).catch(() => {});
    }
  }
  await giveWeight(join(CGROUPS, "cpu", cgroup), processors);
}

/** The weight of a process that is in no cgroup, and the largest that there is. */
const [PROCESS_SHARES, LARGEST_SHARES] = [1024, 262_144];

/**
 * Gives a machine's pods the weight of its processors, which a virtual machine's threads would have. Without it the
 * pods of all machines would get as much of a busy host as one of its processes.
 */
async function giveWeight(dir: string, processors: number): Promise<void> {
  const file = "cpu.shares";
  await writeFile(join(dir, file), `${PROCESS_SHARES * processors}`).catch(() => {});
  const above = dirname(dir);
  const entries = await readdir(above, { withFileTypes: true }).catch(() => []);
  const machines = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(above, name, file));
  const shares = await Promise.all(machines.map((path) => readFile(path, "utf8").then(Number, () => 0)));
  const sum = shares.reduce((one, other) => one + other, 0);
  await writeFile(join(above, file), `${Math.min(Math.max(sum, PROCESS_SHARES), LARGEST_SHARES)}`).catch(() => {});
}

/** Removes a cgroup and all below it in every controller, once its processes are gone. What is still used remains. */
export async function removeCgroup(cgroup: string): Promise<void> {
  for (const controller of await controllers()) await removeTree(join(CGROUPS, controller, cgroup), 0);
}

/** Kubernetes nests cgroups four deep; a container may nest its own. */
const DEEPEST = 16;

async function removeTree(dir: string, depth: number): Promise<void> {
  if (depth > DEEPEST) return;
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(dir, entry.name), depth + 1);
  await rmdir(dir).catch(() => {});
}

async function controllers(): Promise<string[]> {
  const entries = await readdir(CGROUPS, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
