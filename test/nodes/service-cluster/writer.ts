/** A thread of clients that write: they wait for no command that the test runs. */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "@causeway/foundation";
import { loadKubeconfig } from "@causeway/kubernetes";
import type { WriterData, Written } from "./writes.ts";

/** Milliseconds after which a client gives up a request, with its connection. */
const REQUEST_TIMEOUT = 3_000;

const { kubeconfig, round, counts } = workerData as WriterData;
const { server, ca, certificate, key } = loadKubeconfig({
  text: readFileSync(kubeconfig, "utf8"),
}) as unknown as Record<"server" | "ca" | "certificate" | "key", string>;
const tls = { ca, cert: certificate, key };
const url = new URL("/api/v1/namespaces/default/configmaps", server);
const fewest = new Int32Array(counts);
const failures: string[] = [];
let [ended, last, longest, longestOfOne] = [false, performance.now(), 0, 0];

/** Creates one ConfigMap after the other, and repeats what was not acknowledged on a new connection. */
async function client(number: number): Promise<string[]> {
  const own: string[] = [];
  let agent = new Agent({ keepAlive: true, maxSockets: 1, ...tls });
  let lastOwn = performance.now();
  while (!ended) {
    const name = `${round}-${number}-${own.length}`;
    try {
      const status = await post(agent, JSON.stringify({ metadata: { name } }));
      // Of an earlier attempt the response was lost.
      if (status !== 201 && status !== 409) throw new Error(`status ${status}`);
      own.push(name);
      Atomics.add(fewest, number, 1);
      const now = performance.now();
      [longest, longestOfOne] = [Math.max(longest, now - last), Math.max(longestOfOne, now - lastOwn)];
      last = lastOwn = now;
    } catch (error) {
      failures.push(`${new Date().toISOString()} ${name} ${messageOf(error)}`);
      agent.destroy();
      agent = new Agent({ keepAlive: true, maxSockets: 1, ...tls });
    }
    await new Promise((done) => setTimeout(done, 20));
  }
  agent.destroy();
  return own;
}

function post(agent: Agent, body: string): Promise<number> {
  return new Promise((done, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT);
    const sent = request(url, { method: "POST", agent, headers, signal }, (response) => {
      response.on("error", reject);
      response.resume().on("end", () => done(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

parentPort?.once("message", () => (ended = true));
const acknowledged = await Promise.all(Array.from(fewest, (_, number) => client(number)));
const [all, one] = [Math.round(longest), Math.round(longestOfOne)];
const written: Written = { acknowledged: acknowledged.flat(), failures, longest: all, longestOfOne: one };
parentPort?.postMessage(written);
