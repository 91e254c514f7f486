/** Processes that do not respond for a while or end at once, and lines of logs. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { NAME, podsOf } from "./cloud.ts";
import type { Machine } from "./machines.ts";
import { logFolders, type Rig } from "./rig.ts";

/** Processes of all containers of a component, on the machine that runs them. */
async function processesOf(rig: Rig, component: string): Promise<Map<Machine, number[]>> {
  const found = new Map<Machine, number[]>();
  for (const pod of podsOf(rig, component))
    for (const machine of rig.machines) {
      const container = await machine.container(pod, component);
      if (container) found.set(machine, [...(found.get(machine) ?? []), ...(await machine.processes(container.id))]);
    }
  if (found.size === 0) throw new Error(`no process of ${component} runs`);
  return found;
}

/** Stops every process of a component's containers; the returned function lets them continue. */
export async function freeze(rig: Rig, component: string): Promise<() => Promise<void>> {
  const found = await processesOf(rig, component);
  const signal = async (name: "STOP" | "CONT") => {
    await Promise.all([...found].map(([machine, pids]) => machine.signal(name, pids)));
  };
  await signal("STOP");
  return () => signal("CONT");
}

/** Ends every process of these components' containers at once, without a chance to write anything. */
export async function loseAll(rig: Rig, components: readonly string[]): Promise<void> {
  const all = await Promise.all(components.map((component) => processesOf(rig, component)));
  await Promise.all(
    rig.machines.map(async (machine) => {
      const pids = all.flatMap((found) => found.get(machine) ?? []);
      if (pids.length > 0) await machine.signal("KILL", pids);
    }),
  );
}

/**
 * Lines that pods of the deployment wrote and that are no JSON object; each with its pod. The kubelet puts time, stream
 * and a flag in front.
 */
export function jsonLines(rig: Rig): string[] {
  const folders = logFolders(rig).filter((folder) => basename(folder).startsWith(`default_${NAME}-`));
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".log"))
      .map((file) => join(folder, file)),
  );
  return files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "" && !isObject(line.split(" ").slice(3).join(" ")))
      .map((line) => `${file.split("/").slice(-3).join("/")}: ${line.slice(0, 200)}`)
      .slice(0, 3),
  );
}

function isObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
