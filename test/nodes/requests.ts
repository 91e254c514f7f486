import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@causeway/foundation";

/** Milliseconds between two requests. */
const PAUSE = 50;

/** Requests to the pods behind an address, twenty a second. */
export interface Requests {
  /** The names of the pods that have responded. */
  readonly responded: ReadonlySet<string>;
  /** Ends them; what became of them. */
  end(): Promise<RequestCounts>;
}

/** What became of all requests. */
export interface RequestCounts {
  readonly total: number;
  /** When and why requests failed. */
  readonly failures: readonly string[];
  /** The longest time between two responses, in milliseconds. */
  readonly longestPause: number;
}

/** The name of the pod that answers. A connection of its own for each request, as new clients make. */
export async function hostname(address: string): Promise<string> {
  const headers = { connection: "close" };
  const answer = await fetch(`http://${address}/hostname`, { headers, signal: AbortSignal.timeout(30_000) });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.text();
}

/** Begins to send requests. */
export function sendRequests(address: string): Requests {
  const asking = new AbortController();
  const [responded, failures, requests] = [new Set<string>(), [] as string[], [] as Promise<void>[]];
  let [last, longestPause] = [performance.now(), 0];
  const pause = () => {
    const now = performance.now();
    longestPause = Math.max(longestPause, now - last);
    last = now;
  };
  const ask = async (): Promise<void> => {
    try {
      responded.add(await hostname(address));
      pause();
    } catch (error) {
      const why = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
      failures.push(`${new Date().toISOString()} ${why}`);
    }
  };
  const load = (async () => {
    while (!asking.signal.aborted) {
      requests.push(ask());
      await sleep(PAUSE);
    }
  })();
  return {
    responded,
    async end() {
      asking.abort();
      await load;
      await Promise.all(requests);
      return { total: requests.length, failures, longestPause: Math.round(longestPause) };
    },
  };
}
