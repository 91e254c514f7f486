/**
 * The attacker's process: runs the attacks whose titles it receives, at a low priority, so that its own work does not
 * distort the measurement.
 */
import { readdirSync } from "node:fs";
import { setPriority } from "node:os";
import { attacks } from "./attacks/index.ts";
import { Target, type Place } from "./target.ts";

export interface Order {
  readonly title: string;
  readonly place: Place;
}

/** What became of an attack's requests, for people: "200 × 3, none × 1". */
export interface Played {
  readonly sent: number;
  readonly outcome: string;
}

const LASTS = 1_500;

// On Linux a priority belongs to a thread: those that collect this process' garbage have their own.
for (const thread of process.platform === "linux" ? readdirSync("/proc/self/task") : [0])
  setPriority(Number(thread), 15);
async function play({ title, place }: Order): Promise<void> {
  const attack = attacks.find((a) => a.title === title);
  if (!attack) throw new Error(`no attack is called ${title}`);
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), attack.lasts ?? LASTS);
  const target = new Target(place, ending.signal);
  try {
    await attack.run(target);
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
  const { statuses, connections } = target;
  const counts = [...statuses].sort(([a], [b]) => a - b);
  const sent = counts.reduce((sum, [, count]) => sum + count, connections);
  const outcome = counts.map(([status, count]) => `${status || "none"} × ${count}`);
  if (connections > 0) outcome.push(`${connections} connections`);
  const played: Played = { sent, outcome: outcome.join(", ") };
  process.send?.(played);
}

process.on("message", (order: Order) => void play(order));
// What a torn connection throws late is part of an attack.
process.on("uncaughtException", () => {});
process.on("disconnect", () => process.exit(0));
