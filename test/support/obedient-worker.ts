/**
 * A worker process that does harm on request, for tests: on SIGUSR2 it reads what to do from the file that
 * CAUSEWAY_TEST_ORDER names. No request reaches this.
 */
import { readFileSync } from "node:fs";
import { runWorker } from "@causeway/apiserver/worker";

export const OBEDIENT_WORKER = import.meta.filename;

export interface Order {
  readonly harm: "spin" | "eat" | "throw";
  readonly cluster: string;
  readonly request: string;
}

if (import.meta.main) {
  const thread = runWorker();
  process.on("SIGUSR2", () => {
    const order = JSON.parse(readFileSync(process.env["CAUSEWAY_TEST_ORDER"] ?? "", "utf8")) as Order;
    thread.run(order, () => harm(order.harm));
  });
}

function harm(kind: Order["harm"]): void {
  if (kind === "throw") throw new Error("ordered to throw");
  const eaten: unknown[] = [];
  for (;;) {
    if (kind === "eat") eaten.push({ text: "x".repeat(100) + eaten.length, list: [eaten.length] });
  }
}
