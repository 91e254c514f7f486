/** The attacker's process: runs the attacks that it is told by their titles, at a low priority, so that its own work is not what is measured. */
import { setPriority } from "node:os";
import { attacks } from "./attacks/index.ts";
import { Target, type Place } from "./target.ts";

export interface Order {
  readonly title: string;
  readonly place: Place;
}

const LASTS = 2_000;

setPriority(15);
process.on("message", async ({ title, place }: Order) => {
  const attack = attacks.find((a) => a.title === title);
  if (!attack) throw new Error(`no attack is called ${title}`);
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), attack.lasts ?? LASTS);
  const before = performance.now();
  try {
    await attack.run(new Target(place, ending.signal));
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
  process.send?.({ title, milliseconds: Math.round(performance.now() - before) });
});
// What a torn connection throws late is part of an attack.
process.on("uncaughtException", () => {});
process.on("disconnect", () => process.exit(0));
