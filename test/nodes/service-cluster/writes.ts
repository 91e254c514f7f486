import { Agent, request } from "node:https";
import { readFileSync } from "node:fs";
import { loadKubeconfig } from "@causeway/kubernetes";

/** Milliseconds after which a client gives up a request, with its connection. */
const PATIENCE = 3_000;
const WRITERS = 4;

/** What became of the writes. */
export interface Written {
  readonly acknowledged: readonly string[];
  readonly failures: readonly string[];
  /** Milliseconds between two acknowledged writes at most: of all clients, and of one of them. */
  readonly longest: number;
  readonly longestOfOne: number;
}

export interface Writes {
  /** The fewest that a client has had acknowledged so far. */
  fewest(): number;
  end(): Promise<Written>;
}

/**
 * Clients that create one ConfigMap after the other, each on a connection of its own that is kept, and repeat what was
 * not acknowledged on a new one.
 */
export function startWrites(kubeconfig: string, round: string): Writes {
  const { server, ca, certificate, key } = loadKubeconfig({
    text: readFileSync(kubeconfig, "utf8"),
  }) as unknown as Record<"server" | "ca" | "certificate" | "key", string>;
  const tls = { ca, cert: certificate, key };
  const url = new URL("/api/v1/namespaces/default/configmaps", server);
  const failures: string[] = [];
  const acknowledged = Array.from({ length: WRITERS }, (): string[] => []);
  let [ended, last, longest, longestOfOne] = [false, performance.now(), 0, 0];
  const client = async (own: string[], number: number): Promise<void> => {
    let agent = new Agent({ keepAlive: true, maxSockets: 1, ...tls });
    let lastOwn = performance.now();
    while (!ended) {
      const name = `${round}-${number}-${own.length}`;
      try {
        const status = await post(url, agent, JSON.stringify({ metadata: { name } }));
        // Of an earlier attempt the response was lost.
        if (status !== 201 && status !== 409) throw new Error(`status ${status}`);
        own.push(name);
        const now = performance.now();
        [longest, longestOfOne] = [Math.max(longest, now - last), Math.max(longestOfOne, now - lastOwn)];
        last = lastOwn = now;
      } catch (error) {
        failures.push(`${new Date().toISOString()} ${name} ${(error as Error).message}`);
        agent.destroy();
        agent = new Agent({ keepAlive: true, maxSockets: 1, ...tls });
      }
      await new Promise((done) => setTimeout(done, 20));
    }
    agent.destroy();
  };
  const running = acknowledged.map(client);
  return {
    fewest: () => Math.min(...acknowledged.map((own) => own.length)),
    async end() {
      ended = true;
      await Promise.all(running);
      const [all, one] = [Math.round(longest), Math.round(longestOfOne)];
      return { acknowledged: acknowledged.flat(), failures, longest: all, longestOfOne: one };
    },
  };
}

function post(url: URL, agent: Agent, body: string): Promise<number> {
  return new Promise((done, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const signal = AbortSignal.timeout(PATIENCE);
    const sent = request(url, { method: "POST", agent, headers, signal }, (response) => {
      response.on("error", reject);
      response.resume().on("end", () => done(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
