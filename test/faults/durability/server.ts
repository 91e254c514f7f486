import { fork, type ChildProcess } from "node:child_process";
import { issueCertificate, type KeyPair } from "@causeway/foundation";
import { openApi, type Api, type Credentials } from "./api.ts";
import { SERVER_CHILD, type Said } from "./server-child.ts";

const TIMEOUT = 120_000;
const DAY = 86_400_000;

export type Ready = Extract<Said, { is: "ready" }>;

/** A server's process. Made ahead of time, so that its modules are loaded when it is wanted. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #loaded: Promise<unknown>;

  constructor(child: ChildProcess = forkServer()) {
    this.#child = child;
    this.#gone = new Promise((done) => child.once("exit", () => done()));
    this.#loaded = this.#next();
    this.#loaded.catch(() => {});
  }

  /** Has it serve a folder; resolves once it does. Rejects when it cannot, or is killed before. */
  async serve(dir: string): Promise<Ready> {
    await this.#loaded;
    this.#child.send(dir);
    const said = await this.#next();
    if (said.is !== "ready") throw new Error(`the server did not start: ${JSON.stringify(said)}`);
    return said;
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#gone;
  }

  /** Sends it a word, and answers what it says next. */
  async ask(word: string): Promise<Said> {
    this.#child.send(word);
    return this.#next();
  }

  #next(): Promise<Said> {
    return new Promise((done, reject) => {
      const timer = setTimeout(() => reject(new Error("the server said nothing")), TIMEOUT);
      const ended = (): void => {
        clearTimeout(timer);
        reject(new Error("the server ended"));
      };
      this.#child.once("exit", ended);
      this.#child.once("message", (said) => {
        clearTimeout(timer);
        this.#child.off("exit", ended);
        done(said as Said);
      });
    });
  }
}

/** A server's process. Node keeps what it compiled in the folder `compiled`, if one is given, for the next. */
export function forkServer(compiled?: string): ChildProcess {
  const env = { ...process.env, ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }) };
  return fork(SERVER_CHILD, { env, stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

/**
 * Connects to both logical clusters as system:masters. Certificates are made once: the clusters' authorities remain.
 */
export class Clientele {
  readonly #credentials = new Map<string, Credentials>();

  async open({ url, management, blue }: Ready): Promise<ReadonlyMap<string, Api>> {
    if (this.#credentials.size === 0) {
      this.#credentials.set("", await credentialsOf(management, management));
      this.#credentials.set("blue", await credentialsOf(management, blue));
    }
    return new Map([...this.#credentials].map(([cluster, credentials]) => [cluster, openApi(url, credentials)]));
  }
}

async function credentialsOf(serving: KeyPair, authority: KeyPair): Promise<Credentials> {
  const { certificate, key } = await issueCertificate(authority, {
    commonName: "durability",
    organizations: ["system:masters"],
    usages: ["client"],
    lifetime: DAY,
  });
  return { ca: serving.certificate, cert: certificate, key };
}
