/** Processes that do not respond for a while or end at once, and lines of logs. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NAME, podsOf, serviceAddress } from "./cloud.ts";
import type { Machine } from "./machines.ts";
import { logFolders, type Rig } from "./rig.ts";

interface Group {
  readonly machine: Machine;
  /** Of the container. */
  readonly id: string;
  readonly pids: readonly number[];
}

/** Processes of all containers of a component, with the machine that runs them. */
async function processesOf(rig: Rig, component: string): Promise<Group[]> {
  const found: Group[] = [];
  for (const pod of podsOf(rig, component))
    for (const machine of rig.machines) {
      const container = await machine.container(pod, component);
      if (container) found.push({ machine, id: container.id, pids: await machine.processes(container.id) });
    }
  if (found.length === 0) throw new Error(`no process of ${component} runs`);
  return found;
}

/**
 * Stops the processes of one pod's main container but for the first one, which has its log; nothing lets them continue.
 */
export async function freezeOnce(rig: Rig, component: string, pod: string): Promise<void> {
  for (const machine of rig.machines) {
    const container = await machine.container(pod, component);
    if (!container) continue;
    const pids = (await machine.processes(container.id)).filter((pid) => pid !== container.pid);
    if (pids.length === 0) throw new Error(`${component} has no process`);
    return machine.signal("STOP", pids);
  }
  throw new Error(`no process of ${component} runs in ${pod}`);
}

/**
 * Stops every process of a component's containers, and those of containers that the kubelet starts in place of one that
 * does not respond for three minutes; the returned function lets them continue.
 */
export async function freeze(rig: Rig, component: string): Promise<() => Promise<void>> {
  const frozen = new Map<string, Group>();
  const stop = async () => {
    for (const group of await processesOf(rig, component)) {
      if (frozen.has(group.id)) continue;
      await group.machine.signal("STOP", group.pids);
      frozen.set(group.id, group);
    }
  };
  await stop();
  const over = new AbortController();
  const again = (async () => {
    while (!over.signal.aborted) {
      await sleep(5_000, undefined, { signal: over.signal }).catch(() => {});
      // Between two containers there is none, and processes end meanwhile.
      if (!over.signal.aborted) await stop().catch(() => {});
    }
  })();
  return async () => {
    over.abort();
    await again;
    // The kubelet has ended what did not respond for so long.
    for (const { machine, pids } of frozen.values()) await machine.signal("CONT", pids).catch(() => {});
  };
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
  const all = (await Promise.all(components.map((component) => processesOf(rig, component)))).flat();
  await Promise.all(
    rig.machines.map(async (machine) => {
      const pids = all.filter((group) => group.machine === machine).flatMap((group) => group.pids);
      if (pids.length > 0) await machine.signal("KILL", pids);
    }),
  );
}

/** What every line has, as text. */
const FIELDS = ["time", "level", "service", "host", "message"];

/**
 * Lines that pods of the deployment wrote and that are no JSON object with these fields; each with its pod. The kubelet
 * puts time, stream and a flag in front.
 */
export function incompleteLines(rig: Rig): string[] {
  const folders = logFolders(rig).filter((folder) => basename(folder).startsWith(`default_${NAME}-`));
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".log"))
      .map((file) => join(folder, file)),
  );
  return files.flatMap((file) =>
    wholeLines(readFileSync(file, "utf8"))
      .filter((line) => !isWhole(line))
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

function isWhole(text: string): boolean {
  try {
    const found = JSON.parse(text) as Record<string, unknown>;
    return FIELDS.every((field) => typeof found[field] === "string");
  } catch {
    return false;
  }
}
