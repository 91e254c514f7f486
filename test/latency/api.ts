import { setTimeout as sleep } from "node:timers/promises";
import type { CloudConfig } from "@causeway/openstack";
import { at } from "../contracts/openstack/shape.ts";
import { openRaw } from "../contracts/openstack/run.ts";

/** Requests of one project, by raw HTTP: what is measured is the cloud, not the SDK's pace. */
export interface Api {
  /** The body of the answer; a status of 400 and more throws. */
  readonly send: (service: string, call: string, body?: unknown) => Promise<unknown>;
  /** What is at a field of the body of a GET; "gone" when there is none. */
  readonly status: (service: string, path: string, field: string) => Promise<string>;
}

/** Logs in. */
export async function openApi(config: CloudConfig): Promise<Api> {
  const { member } = await openRaw({ member: config, admin: config, alt: config, reader: config });
  const ask = async (service: string, call: string, body?: unknown) => {
    const [method = "GET", path = ""] = call.split(" ");
    const response = await fetch((member.endpoint(service) ?? "").replace(/\/$/, "") + path, {
      method,
      headers: {
        "x-auth-token": member.token,
        "content-type": "application/json",
        "openstack-api-version": service === "volumev3" ? "volume 3.70" : "compute 2.93",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(300_000),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? (JSON.parse(text) as unknown) : undefined, text };
  };
  return {
    async send(service, call, body) {
      const answer = await ask(service, call, body);
      if (answer.status < 400) return answer.body;
      throw new Error(`${service} ${call}: ${answer.status} ${answer.text.slice(0, 300)}`);
    },
    async status(service, path, field) {
      const answer = await ask(service, `GET ${path}`);
      return answer.status === 404 ? "gone" : String(at(answer.body, field));
    },
  };
}

/** One run of an operation. */
export interface Passage {
  /** Milliseconds until the response to its request. */
  readonly answered: number;
  /** Milliseconds from its request until it was over. */
  readonly settled: number;
  /** What its status was, in order, each once. */
  readonly statuses: readonly string[];
  readonly body: unknown;
}

/** What to read after the request, and when it is over; undefined: with the answer. */
export interface Watched {
  readonly service: string;
  readonly path: (body: unknown) => string;
  readonly field: string;
  /** Default: "gone". */
  readonly until?: string;
}

/** Milliseconds between two checks, and from the request to giving up. */
const [PAUSE, LIMIT] = [60, 240_000];

/** Sends a request and watches it to its end. Throws when it ends in ERROR or not at all. */
export async function passage(
  api: Api,
  { service, call, body }: { readonly service: string; readonly call: string; readonly body?: unknown },
  watched?: Watched,
): Promise<Passage> {
  const begun = performance.now();
  const answer = await api.send(service, call, body);
  const answered = performance.now() - begun;
  if (!watched) return { answered, settled: answered, statuses: [], body: answer };
  const statuses: string[] = [];
  for (;;) {
    const now = await api.status(watched.service, watched.path(answer), watched.field);
    if (now !== statuses.at(-1)) statuses.push(now);
    if (now === (watched.until ?? "gone")) break;
    if (/^error/i.test(now) || performance.now() - begun > LIMIT) throw new Error(`${call} ended in ${now}`);
    await sleep(PAUSE);
  }
  return { answered, settled: performance.now() - begun, statuses, body: answer };
}
