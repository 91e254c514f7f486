import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect as connectTls } from "node:tls";
import { parse } from "yaml";
import type { Step } from "./input.ts";

/** How a step ended. */
export interface Reply {
  /** undefined when the connection ended without an answer. */
  readonly status: number | undefined;
  readonly bytes: number;
  /** The beginning of the body. */
  readonly text: string;
  /** Why there is no whole answer. */
  readonly broken?: string;
}

export interface Credentials {
  readonly server: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
}

export function credentialsOf(kubeconfig: string): Credentials {
  const { clusters, users } = parse(kubeconfig) as Kubeconfig;
  const pem = (value: string | undefined): string => Buffer.from(value ?? "", "base64").toString();
  return {
    server: clusters[0].cluster["server"] ?? "",
    ca: pem(clusters[0].cluster["certificate-authority-data"]),
    cert: pem(users[0].user["client-certificate-data"]),
    key: pem(users[0].user["client-key-data"]),
  };
}

const KEPT = 64 * 1024;
/** More of an answer than this is a finding in any case. */
const MOST_READ = 512 * 1024 * 1024;
const ENDLESS = 60;
const RAW_QUIET = 150;

/** One keep-alive HTTP/2 connection, renewed when it ends, and a new HTTP/1.1 connection for each raw step. */
export class Client {
  readonly #credentials: Credentials;
  #session: ClientHttp2Session | undefined;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  send(step: Step): Promise<Reply> {
    return step.raw === undefined ? this.#request(step) : this.#raw(step.raw);
  }

  close(): void {
    this.#session?.destroy();
    this.#session = undefined;
  }

  #connected(): ClientHttp2Session {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session;
    const { server, ca, cert, key } = this.#credentials;
    const session = connectHttp2(server, { ca, cert, key });
    session.setMaxListeners(0);
    session.on("error", () => session.destroy());
    session.on("goaway", () => session.close());
    this.#session = session;
    return session;
  }

  #request({ method, path, headers, body, endless }: Step): Promise<Reply> {
    return new Promise((resolve) => {
      const answer = new Answer(resolve);
      let stream;
      try {
        stream = this.#connected().request(
          { ...headers, ":method": method, ":path": path },
          { endStream: body === undefined },
        );
      } catch (error) {
        // The client's own library does not send it.
        return answer.end({ status: 0, broken: String(error) });
      }
      stream.on("response", (found) => {
        answer.status = Number(found[":status"]);
        if (endless) setTimeout(() => stream.close(), ENDLESS);
      });
      stream.on("data", (chunk: Buffer) => {
        if (answer.take(chunk) > MOST_READ) stream.close();
      });
      stream.on("end", () => answer.end({}));
      stream.on("error", (error) => answer.end({ broken: String(error) }));
      stream.on("close", () => answer.end(endless ? {} : { broken: `stream closed with ${stream.rstCode}` }));
      if (body !== undefined) stream.end(body);
    });
  }

  /** Sends bytes as they are; the answer is what comes until the server closes or is quiet. */
  #raw(bytes: string): Promise<Reply> {
    const { server, ca, cert, key } = this.#credentials;
    const { hostname, port } = new URL(server);
    return new Promise((resolve) => {
      const answer = new Answer(resolve);
      const socket = connectTls({ host: hostname, port: Number(port), ca, cert, key, ALPNProtocols: ["http/1.1"] });
      let quiet: NodeJS.Timeout | undefined;
      const wait = (): void => {
        clearTimeout(quiet);
        quiet = setTimeout(() => socket.destroy(), RAW_QUIET);
      };
      socket.on("secureConnect", () => {
        socket.write(bytes, "latin1");
        wait();
      });
      socket.on("data", (chunk: Buffer) => {
        answer.take(chunk);
        wait();
      });
      socket.on("error", () => {});
      socket.on("close", () => {
        clearTimeout(quiet);
        const [, code] = /^HTTP\/1\.1 (\d{3})/.exec(answer.text) ?? [];
        answer.end({ status: Number(code ?? 0) });
      });
    });
  }
}

class Answer {
  status: number | undefined;
  text = "";
  #bytes = 0;
  #isOver = false;
  readonly #resolve: (reply: Reply) => void;

  constructor(resolve: (reply: Reply) => void) {
    this.#resolve = resolve;
  }

  take(chunk: Buffer): number {
    this.#bytes += chunk.length;
    if (this.text.length < KEPT) this.text += chunk.toString("utf8");
    return this.#bytes;
  }

  end({ status = this.status, broken }: { status?: number | undefined; broken?: string }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#resolve({ status, bytes: this.#bytes, text: this.text, ...(broken === undefined ? {} : { broken }) });
  }
}
