import { Agent, request } from "node:https";
import type { ClientRequest, IncomingMessage } from "node:http";
import { HANDSHAKE, NO_FRAMES, upgradedOf } from "./frames.ts";
import type { Answer, CallExtras, Json, Raw, Watch } from "./interface.ts";

const TIMEOUT = 5000;
const PATCH_TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

export interface Connection {
  readonly url: string;
  readonly ca: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
}

/** Bare HTTPS to one server as one identity. */
export function rawClient({ url, ca, certificate, key, token }: Connection): Raw {
  const agent = new Agent({ keepAlive: true, ca, ...(certificate && key ? { cert: certificate, key } : {}) });
  const identity: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const begin = (method: string, path: string, headers: Readonly<Record<string, string>>): ClientRequest =>
    request(`${url}${path}`, { method, agent, headers: { "user-agent": "contract/1", ...identity, ...headers } });

  const call = (method: string, path: string, body?: unknown, extras: CallExtras = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const query = new URLSearchParams(extras.query).toString();
      const target = query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;
      const isAsSent = typeof body === "string" || Buffer.isBuffer(body);
      const payload = body === undefined ? "" : isAsSent ? body : JSON.stringify(body);
      const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
      const length = { "content-length": String(Buffer.byteLength(payload)) };
      const sent = begin(method, target, { ...type, ...length, ...extras.headers });
      sent.on("error", reject);
      sent.on("response", (response) => {
        textOf(response).then((text) => resolve(answerOf(response, text)), reject);
      });
      sent.end(payload);
    });
  return {
    call,
    get: (path, extras) => call("GET", path, undefined, extras),
    post: (path, body, extras) => call("POST", path, body, extras),
    put: (path, body, extras) => call("PUT", path, body, extras),
    delete: (path, body) => call("DELETE", path, body),
    patch: (path, type, body) => call("PATCH", path, body, { headers: { "content-type": PATCH_TYPES[type] } }),
    watch: (path, listen) =>
      new Promise((resolve, reject) => {
        const sent = begin("GET", path, {});
        sent.on("error", reject);
        sent.on("response", (response) => resolve(watchOf(sent, response, listen)));
        sent.end();
      }),
    upgrade: (path, headers = {}) =>
      new Promise((resolve, reject) => {
        const wanted = Object.entries({ ...HANDSHAKE, ...headers }).filter(([, value]) => value !== "");
        const sent = begin("GET", path, Object.fromEntries(wanted));
        sent.on("error", reject);
        sent.on("upgrade", (response, socket, head) => resolve(upgradedOf(response, socket, head)));
        sent.on("response", (response) => {
          textOf(response).then((text) => resolve({ ...answerOf(response, text), ...NO_FRAMES }), reject);
        });
        sent.end();
      }),
    close: () => agent.destroy(),
  };
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding("utf8");
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return text;
}

function answerOf(response: IncomingMessage, text: string): Answer {
  // A watch that was read to its end is many bodies, one a line.
  const isOne = text.trim() !== "" && !text.includes("}\n{");
  const isJson = isOne && response.headers["content-type"]?.includes("json") === true;
  const body = isJson ? (JSON.parse(text) as Json) : {};
  return { code: response.statusCode ?? 0, body, text, headers: response.headers };
}

function watchOf(sent: ClientRequest, response: IncomingMessage, listen?: (event: Json) => void): Watch {
  const events: Json[] = [];
  const heard = listen ?? ((event: Json) => void events.push(event));
  let rest = "";
  let ended = false;
  let wake = (): void => {};
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") heard(JSON.parse(line) as Json);
    wake();
  });
  response.on("error", () => {});
  response.on("close", () => {
    if (rest.trim() !== "") heard(JSON.parse(rest) as Json);
    rest = "";
    ended = true;
    wake();
  });
  const until = (done: () => boolean, what: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        sent.destroy();
        reject(new Error(`${what}; the watch returned ${JSON.stringify(events)}`));
      }, TIMEOUT);
      wake = () => {
        if (!done()) return;
        clearTimeout(timer);
        wake = () => {};
        resolve();
      };
      wake();
    });
  return {
    async take(count) {
      await until(() => events.length >= count || ended, `fewer than ${count} events came`);
      return events.splice(0, count);
    },
    async rest() {
      await until(() => ended, "the server did not end the watch");
      return events.splice(0);
    },
    close: () => void sent.destroy(),
  };
}
