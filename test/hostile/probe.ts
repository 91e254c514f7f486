/**
 * The process that measures: every 25 ms a GET to the management API and one to a tenant, each over a connection of its
 * own that remains open, and every half second one over a new connection. It runs at a high priority, where the user
 * may, so that the attacker's work does not delay its clock.
 */
import { request, Agent } from "node:https";
import { setPriority } from "node:os";

/** An API to measure, as a kubeconfig has it. */
export interface Probed {
  readonly name: string;
  readonly server: string;
  readonly authority: string;
  readonly cert: string;
  readonly key: string;
}

/** Latencies in ms since the last report, in the order of requests; `errors` are requests without a 200. */
export interface Report {
  readonly name: string;
  readonly latencies: readonly number[];
  readonly errors: readonly string[];
}

const EVERY = 25;
const NEW_CONNECTION_EVERY = 20;
const GIVEN_UP = 10_000;

try {
  setPriority(-10);
} catch {
  // Only root may: what is measured is then less sharp.
}

interface Probe {
  readonly about: Probed;
  latencies: number[];
  errors: string[];
  /** When the request under way was sent. */
  sentAt: number | undefined;
}

const probes: Probe[] = [];

function get({ about }: Probe, agent: Agent): Promise<string | undefined> {
  const url = new URL("/api/v1/namespaces/default", about.server);
  return new Promise((done) => {
    const call = request(url, { agent, signal: AbortSignal.timeout(GIVEN_UP) }, (response) => {
      response.resume();
      response.on("error", (error) => done(error.message));
      response.on("end", () => done(response.statusCode === 200 ? undefined : `status ${response.statusCode}`));
    });
    call.on("error", (error) => done(error.message));
    call.end();
  });
}

async function measure(probe: Probe): Promise<void> {
  const { authority: ca, cert, key } = probe.about;
  const kept = new Agent({ keepAlive: true, maxSockets: 1, ca, cert, key });
  for (let n = 0; ; n += 1) {
    const fresh = n % NEW_CONNECTION_EVERY === 0 ? new Agent({ ca, cert, key }) : undefined;
    const before = performance.now();
    probe.sentAt = before;
    const problem = await get(probe, fresh ?? kept);
    probe.sentAt = undefined;
    fresh?.destroy();
    const took = performance.now() - before;
    probe.latencies.push(took);
    if (problem !== undefined) probe.errors.push(`${problem} after ${Math.round(took)} ms`);
    await new Promise((done) => setTimeout(done, Math.max(1, EVERY - took)));
  }
}

process.on("message", (asked: { readonly probe: readonly Probed[] } | "report") => {
  if (asked !== "report") {
    for (const about of asked.probe) {
      const probe: Probe = { about, latencies: [], errors: [], sentAt: undefined };
      probes.push(probe);
      void measure(probe);
    }
    return;
  }
  const reports = probes.map(({ about, latencies, errors, sentAt }): Report => {
    // A request that is still waiting counts with what it has waited.
    const waiting = sentAt === undefined ? [] : [performance.now() - sentAt];
    return { name: about.name, latencies: [...latencies, ...waiting], errors };
  });
  for (const probe of probes) {
    probe.latencies = [];
    probe.errors = [];
  }
  process.send?.(reports);
});
process.on("disconnect", () => process.exit(0));
