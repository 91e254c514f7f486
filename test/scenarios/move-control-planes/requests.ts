import { createClient, loadKubeconfig, secretText, type Secret } from "@causeway/kubernetes";

/** What clients of tenants' APIs saw. */
export interface Seen {
  readonly requests: number;
  /** Ms between two responses to one tenant's requests, at most. */
  readonly longest: number;
}

/** Ms between two requests of one tenant, and of all of them together at least. */
const [PAUSE, PAUSE_OF_ALL] = [50, 10];

/** Requests the API of each tenant again and again, by its kubeconfig, until it is ended. */
export async function requestAll(secrets: readonly Secret[]): Promise<{ end(): Promise<Seen> }> {
  const kubeconfigs = secrets.filter(({ metadata }) => metadata.name.endsWith("-kubeconfig"));
  const pause = Math.max(PAUSE, PAUSE_OF_ALL * kubeconfigs.length);
  let [ended, requests, longest] = [false, 0, 0];
  const all = kubeconfigs.map(async (secret) => {
    const client = createClient(loadKubeconfig({ text: secretText(secret, "value") ?? "" }));
    let last = performance.now();
    while (!ended) {
      const isServed = await client.request("GET", "/version").then(
        () => true,
        () => false,
      );
      const now = performance.now();
      longest = Math.max(longest, Math.round(now - last));
      if (isServed) [last, requests] = [now, requests + 1];
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    await client.close();
  });
  return {
    async end() {
      ended = true;
      await Promise.all(all);
      return { requests, longest };
    },
  };
}
