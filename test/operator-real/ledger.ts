/** What databases and brokers confirmed to a client, and what of it is left (ledger.py). */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { NAME } from "./cloud.ts";
import type { Rig } from "./rig.ts";

const program = readFileSync(join(import.meta.dirname, "ledger.py"), "utf8");

export type Kind = "rows" | "messages";
const facts = {
  rows: { component: "mariadb", password: "database.admin", read: "committed" },
  messages: { component: "rabbitmq", password: "broker.admin", read: "kept" },
} as const;

export interface Writer {
  /** Numbers that the server confirmed. */
  readonly confirmed: readonly number[];
  /** Ends it; nothing is confirmed after. */
  stop(): Promise<void>;
}

/** Writes without a pause, by way of the component's Service, until the server goes away. */
export async function startWriter(rig: Rig, kind: Kind): Promise<Writer> {
  const child = await start(rig, kind, kind);
  const confirmed: number[] = [];
  createInterface({ input: child.stdout! }).on("line", (line) => confirmed.push(Number(line)));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    confirmed,
    async stop() {
      child.stdin!.end();
      await ended;
    },
  };
}

/** The numbers that are there now. Fails while the server does not respond. */
export async function readLedger(rig: Rig, kind: Kind): Promise<Set<number>> {
  const child = await start(rig, kind, facts[kind].read);
  let text = "";
  child.stdout!.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (status !== 0) throw new Error(`${kind} cannot be read`);
  return new Set(
    text
      .split("\n")
      .filter((line) => line !== "")
      .map(Number),
  );
}

async function start(rig: Rig, kind: Kind, what: string): Promise<ChildProcess> {
  const { component, password } = facts[kind];
  const pod = `${NAME}-${component}-0`;
  const [machine] = rig.machines;
  const container = await machine?.container(pod, component);
  if (!machine || !container) throw new Error(`${pod} does not run`);
  const { data } = rig.get<{ data: Record<string, string> }>("secret", `${NAME}-credentials`);
  const { spec } = rig.get<{ spec: { clusterIP: string } }>("service", `${NAME}-${component}`);
  const child = machine.startBeside(container, ["/usr/bin/python3", "-c", program, what, spec.clusterIP]);
  child.stdin!.on("error", () => {});
  child.stdin!.write(`${Buffer.from(data[password] ?? "", "base64").toString()}\n`);
  return child;
}
