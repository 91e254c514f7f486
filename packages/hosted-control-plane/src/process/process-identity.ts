import { readdirSync, readFileSync } from "node:fs";

/** A process that is not mistaken for another one that got its number later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks between the boot and its start (proc(5), stat, field 22). */
  readonly start: string;
  /** Of the boot in which it was started. */
  readonly boot: string;
}

/** Undefined: there is no such process. A process that has ended and was not waited for counts as none. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  // The second field is the name in parentheses, with any characters.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state] = fields ?? [];
  const start = fields?.[19];
  if (start === undefined || state === "Z" || state === "X") return undefined;
  return { pid, start, boot: textOf("/proc/sys/kernel/random/boot_id")?.trim() ?? "" };
}

/** The same process, not another one that got its number later. */
export function isAlive(process: ProcessIdentity): boolean {
  const now = identityOf(process.pid);
  return now !== undefined && now.start === process.start && now.boot === process.boot;
}

/** What a pid file says; undefined: it is not there, or was only half written. */
export function readIdentity(file: string): ProcessIdentity | undefined {
  try {
    const { pid, start, boot } = JSON.parse(textOf(file) ?? "") as Partial<ProcessIdentity>;
    return typeof pid === "number" && pid > 1 && typeof start === "string" && typeof boot === "string"
      ? { pid, start, boot }
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Processes of this user that were started with a variable of the environment. Those of other users are not readable,
 * and not ours.
 */
export function processesWith(variable: string, value: string): ProcessIdentity[] {
  const wanted = `${variable}=${value}`;
  return readdirSync("/proc").flatMap((name) => {
    if (!/^[0-9]+$/.test(name)) return [];
    const environment = textOf(`/proc/${name}/environ`);
    if (environment === undefined || !environment.split("\0").includes(wanted)) return [];
    return identityOf(Number(name)) ?? [];
  });
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
