import type { Measurement } from "@causeway/cluster-api";
import { messageOf, type Clock } from "@causeway/foundation";
import { createClient, loadKubeconfig, Secret, secretText, type KubernetesClient } from "@causeway/kubernetes";

/** Where the kubeconfigs of clusters are. */
export interface MeasureOptions {
  readonly from: KubernetesClient;
  readonly to: KubernetesClient;
  readonly namespace: string;
  readonly clock: Clock;
}

/** Milliseconds between a response and the next request, and that one response may take. */
const EVERY = 100;
const WITHIN = 5_000;

/** Requests the APIs of clusters by their kubeconfigs, as their users do. */
export function measureClusters(options: MeasureOptions) {
  return async (clusters: readonly string[], signal: AbortSignal): Promise<Measurement> => {
    const all = await Promise.all(clusters.map((name) => measureOne(options, name, signal)));
    return { end: async () => Promise.all(all.map((each) => each.end())) };
  };
}

async function measureOne(
  { from, to, namespace, clock }: MeasureOptions,
  name: string,
  signal: AbortSignal,
): Promise<{ end(): Promise<string> }> {
  const key = { namespace, name: `${name}-kubeconfig` };
  const unmeasured = (why: string) => ({ end: async () => `cluster ${name}: its API was not requested: ${why}` });
  const secret = (await from.find(Secret, key, { signal })) ?? (await to.find(Secret, key, { signal }));
  const text = secretText(secret, "value");
  if (text === undefined) return unmeasured(`Secret ${namespace}/${key.name} has no kubeconfig`);
  let client: KubernetesClient;
  try {
    // A tenant may write its Secret: it may name no command and no file of the operator's machine.
    client = createClient(loadKubeconfig({ text, selfContained: true }));
  } catch (error) {
    return unmeasured(messageOf(error));
  }
  const request = async (): Promise<void> => {
    // An object, which is read from the datastore, where /version needs none.
    await client.request("GET", "/api/v1/namespaces/default", { signal: AbortSignal.timeout(WITHIN) });
  };
  const requests = measureRequests(request, clock);
  return {
    async end() {
      const seen = await requests.end();
      await client.close();
      return describe(name, seen);
    },
  };
}

/** What the requests to one API saw. */
export interface Seen {
  readonly responses: number;
  readonly failures: number;
  /** Ms without a response, at most: between two of them, or between the last one and the end. */
  readonly longest: number;
  /** Of the last request that failed. */
  readonly why?: string;
}

/** Requests again and again until it is ended. */
export function measureRequests(request: () => Promise<void>, clock: Clock): { end(): Promise<Seen> } {
  const ended = new AbortController();
  let seen: Seen = { responses: 0, failures: 0, longest: 0 };
  let last = clock.now();
  const note = (): void => void (seen = { ...seen, longest: Math.max(seen.longest, clock.now() - last) });
  const run = (async () => {
    while (!ended.signal.aborted) {
      try {
        await request();
        note();
        last = clock.now();
        seen = { ...seen, responses: seen.responses + 1 };
      } catch (error) {
        seen = { ...seen, failures: seen.failures + 1, why: messageOf(error) };
      }
      await clock.sleep(EVERY, ended.signal).catch(() => {});
    }
    note();
  })();
  return {
    async end() {
      ended.abort();
      await run;
      return seen;
    },
  };
}

function describe(name: string, { responses, failures, longest, why }: Seen): string {
  if (responses === 0) return `cluster ${name}: its API does not respond from here: ${why ?? "there was no time"}`;
  const failed = failures === 0 ? "none failed" : `${failures} failed, the last one with: ${why ?? ""}`;
  return `cluster ${name}: at most ${longest} ms without a response of its API (${responses + failures} requests, ${failed})`;
}
