import { Agent, request } from "node:http";
import { costOf } from "../apiserver/subject.ts";

/** A server of the API under measurement. */
export interface Subject {
  readonly name: "ours" | "upstream";
  /** "http://HOST:PORT" */
  readonly url: string;
  readonly processes: readonly { readonly pid?: number | undefined }[];
}

export interface Figures {
  /** A call may be several requests: the pages of one list. */
  readonly calls: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  readonly cpuMillisecondsPerCall: number;
  readonly memoryMiB: number;
  readonly KiBPerCall: number;
}

export interface Sent {
  readonly status: number;
  readonly text: string;
}

export type Send = (method: string, path: string, body?: object) => Promise<Sent>;

/** A client of one token, with connections that remain. */
export function clientOf(url: string, token: string, width: number): { readonly send: Send; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: width });
  const fixed = { "x-auth-token": token, "openstack-api-version": "container-infra 1.10" };
  return {
    send(method, path, body) {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers =
        text === undefined
          ? fixed
          : { ...fixed, "content-type": "application/json", "content-length": Buffer.byteLength(text) };
      return new Promise((done, reject) => {
        const sent = request(`${url}${path}`, { method, agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () =>
            done({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("latin1") }),
          );
          response.on("error", reject);
        });
        sent.on("error", reject);
        sent.end(text);
      });
    },
    close: () => agent.destroy(),
  };
}

export interface Load {
  /** Calls under way at once. */
  readonly width: number;
  /** No call begins after so many seconds, except the first ones of each of the width. */
  readonly seconds: number;
  /** At most so many calls. */
  readonly most: number;
  /** One call; answers how many bytes came. */
  readonly call: (at: number) => Promise<number>;
}

export async function measured(subject: Subject, { width, seconds, most, call }: Load): Promise<Figures> {
  const took: number[] = [];
  const before = costOf(subject);
  const begun = performance.now();
  let [next, bytes] = [0, 0];
  const worker = async (): Promise<void> => {
    for (let first = true; next < most && (first || performance.now() - begun < seconds * 1000); first = false) {
      const [at, started] = [next++, performance.now()];
      const size = await call(at);
      bytes += size;
      took.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  const all = (performance.now() - begun) / 1000;
  const after = costOf(subject);
  const sorted = took.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return {
    calls: took.length,
    seconds: all,
    perSecond: took.length / all,
    p50Milliseconds: at(0.5),
    p99Milliseconds: at(0.99),
    cpuMillisecondsPerCall: ((after.cpuSeconds - before.cpuSeconds) * 1000) / took.length,
    memoryMiB: after.memoryMiB,
    KiBPerCall: bytes / 1024 / took.length,
  };
}

/** All pages of a list; answers how many bytes they have. @throws when other than so many clusters are in them */
export async function wholeList(send: Send, path: string, count: number): Promise<number> {
  let [bytes, seen] = [0, 0];
  for (let next: string | undefined = path; next !== undefined;) {
    const { status, text }: Sent = await send("GET", next);
    if (status !== 200) throw new Error(`${next} is ${status}: ${text.slice(0, 300)}`);
    bytes += text.length;
    seen += text.split('"create_timeout"').length - 1;
    const link: string | undefined = /"next": ?"https?:\/\/[^/]+([^"]+)"/.exec(text)?.[1];
    next = link;
  }
  if (seen !== count) throw new Error(`${path} has ${seen} clusters of ${count}`);
  return bytes;
}
