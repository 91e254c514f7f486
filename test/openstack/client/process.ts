import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

/** What one command did. */
export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The stock openstack client of one account, kept running: its start is slower than most commands. */
export class ClientProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #errors = "";

  constructor(clouds: { readonly file: string; readonly name: string }) {
    // Debian's own interpreter: a user's python3 does not know Debian's packages.
    this.#child = spawn("/usr/bin/python3", [resolve(import.meta.dirname, "client.py")], {
      env: {
        PATH: "/usr/bin:/bin",
        HOME: "/nonexistent",
        // Some messages are put together from sets of lines.
        PYTHONHASHSEED: "0",
        OS_CLIENT_CONFIG_FILE: clouds.file,
        OS_CLOUD: clouds.name,
        // The newest that the client knows; its own defaults hide most of what it can do.
        OS_COMPUTE_API_VERSION: "2.92",
        // From 3.66 on it asks for what Cinder has removed, so that it can make no snapshots.
        OS_VOLUME_API_VERSION: "3.65",
        OS_PLACEMENT_API_VERSION: "1.39",
      },
    });
    this.#child.stderr.on("data", (chunk) => (this.#errors += String(chunk)));
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async run(words: readonly string[]): Promise<Answer> {
    this.#child.stdin.write(`${JSON.stringify(words)}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`the client ended: ${this.#errors}`);
    return JSON.parse(value) as Answer;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.stdin.end();
    await once(this.#child, "exit");
  }
}
