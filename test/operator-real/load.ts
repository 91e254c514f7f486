/**
 * Requests at an even rate, each with a connection of its own; what failed. Runs inside the machine's network: `node
 * load.ts URL PER_SECOND [TOKEN [ADDRESS AUTHORITIES]]`; an https URL is requested at the address, and its certificate
 * checked by the file of authorities. Ends with its input.
 */
import { readFileSync } from "node:fs";
import { request as plain } from "node:http";
import { request as secure } from "node:https";
import type { LookupFunction } from "node:net";

const [url = "", rate = "50", token, address = "", authorities] = process.argv.slice(2);
const headers = token ? { "X-Auth-Token": token } : {};
const lookup: LookupFunction = (_name, { all }, done) =>
  all === true ? done(null, [{ address, family: 4 }]) : done(null, address, 4);
const trust = authorities === undefined ? {} : { ca: readFileSync(authorities, "utf8"), lookup };
const request = authorities === undefined ? plain : secure;
const pending = new Set<Promise<void>>();
const failures: string[] = [];
let [sent, slowest, late] = [0, 0, 0];

function ask(): Promise<void> {
  const began = performance.now();
  return new Promise((resolve) => {
    const done = (problem?: string) => {
      slowest = Math.max(slowest, performance.now() - began);
      if (problem !== undefined) failures.push(`${new Date().toISOString()} ${problem}`);
      resolve();
    };
    const outgoing = request(url, { agent: false, timeout: 60_000, headers, ...trust }, (incoming) => {
      incoming.resume();
      incoming.once("error", (error) => done(error.message));
      incoming.once("end", () => done(incoming.statusCode === 200 ? undefined : `status ${incoming.statusCode}`));
    });
    outgoing.once("timeout", () => outgoing.destroy(new Error("no answer within 60 s")));
    outgoing.once("error", (error) => done(error.message));
    outgoing.end();
  });
}

// A late timer sends what is due by then, so that the rate holds on a busy machine.
const start = performance.now();
let before = start;
const timer = setInterval(() => {
  const now = performance.now();
  late = Math.max(late, now - before);
  before = now;
  const due = Math.floor(((now - start) / 1000) * Number(rate));
  for (; sent < due; sent++) {
    const asked = ask().finally(() => pending.delete(asked));
    pending.add(asked);
  }
}, 10);
process.stdin.resume();
process.stdin.once("end", () => {
  clearInterval(timer);
  const seconds = (performance.now() - start) / 1000;
  void Promise.all(pending).then(() => {
    process.stdout.write(
      `${JSON.stringify({ sent, seconds, failures: failures.length, slowest, late, examples: [...failures.slice(0, 5), ...failures.slice(5).slice(-1)] })}\n`,
    );
  });
});
