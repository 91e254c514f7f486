/** Processes that do not respond for a while or end at once, and lines of logs. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { NAME, podsOf, serviceAddress } from "./cloud.ts";
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
  // The kubelet may have ended what did not respond for so long.
  return () => signal("CONT").catch(() => {});
}

/** What makes each of them say something: a database greets, a broker answers the name of the protocol. */
const GREETINGS = {
  mariadb: { port: 3306, says: "" },
  rabbitmq: { port: 5672, says: String.raw`AMQP\x00\x00\x09\x01` },
} as const;

/** Does a process respond, beyond the connection that the kernel accepts for it? */
export async function responds(rig: Rig, component: keyof typeof GREETINGS): Promise<boolean> {
  const { port, says } = GREETINGS[component];
  const script = `exec 3<>/dev/tcp/${serviceAddress(rig, component)}/${port}; printf '${says}' >&3; head -c 1 <&3 | wc -c`;
  const answer = await rig.inNetwork("timeout", "10", "bash", "-c", script).catch(() => "0");
  return answer.trim() === "1";
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
    wholeLines(readFileSync(file, "utf8"))
      .filter((line) => !isObject(line))
      .map((line) => `${file.split("/").slice(-3).join("/")}: ${line.slice(0, 200)}`)
      .slice(0, 3),
  );
}

/** The runtime writes long lines in parts of 16 KiB, flagged P but for the last one, F. */
function wholeLines(log: string): string[] {
  const open = new Map<string, string>();
  return log.split("\n").flatMap((entry) => {
    const [, stream = "", flag, text] = /^\S+ (\S+) (\S) (.*)$/.exec(entry) ?? [];
    if (text === undefined) return [];
    const line = `${open.get(stream) ?? ""}${text}`;
    open.set(stream, flag === "P" ? line : "");
    return flag === "P" ? [] : [line];
  });
}

function isObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
