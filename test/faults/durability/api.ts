import { connect, type ClientHttp2Session } from "node:http2";

export type Json = Record<string, unknown>;

export interface Credentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** One HTTP/2 connection, for many callers and watches at once. It ends with the server. */
export interface Api {
  /** Rejects when the server goes away before all of the answer is there. */
  send(method: string, path: string, body?: Json, type?: string): Promise<{ code: number; body: Json }>;
  /** Hands over each line of an answer that does not end. */
  lines(path: string, take: (line: string) => void): void;
  close(): void;
}

export function openApi(url: string, credentials: Credentials): Api {
  const session = connect(url, { ...credentials });
  session.on("error", () => {});
  return {
    send: (method, path, body, type = "application/json") =>
      new Promise((resolve, reject) => {
        const stream = open(session, { ":method": method, ":path": path, "content-type": type });
        if (!stream) return reject(new Error("the connection is gone"));
        let code = 0;
        let text = "";
        let whole = false;
        stream.setEncoding("utf8");
        stream.on("response", (headers) => (code = Number(headers[":status"])));
        stream.on("data", (chunk: string) => (text += chunk));
        stream.on("end", () => (whole = code > 0));
        stream.on("error", () => {});
        stream.on("close", () => {
          try {
            if (whole) return resolve({ code, body: JSON.parse(text) as Json });
          } catch {
            // Cut off in the middle.
          }
          reject(new Error("the answer was cut off"));
        });
        stream.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    lines(path, take) {
      let rest = "";
      const stream = open(session, { ":path": path });
      stream?.setEncoding("utf8");
      stream?.on("error", () => {});
      stream?.on("data", (chunk: string) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        lines.forEach(take);
      });
    },
    close: () => session.destroy(),
  };
}

function open(session: ClientHttp2Session, headers: Record<string, string>) {
  return session.closed || session.destroyed ? undefined : session.request(headers);
}
