import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./commands.ts";

/** The program in front of an API, whose database is pinged, with a played uWSGI behind it. */
const program = join(import.meta.dirname, "../../programs/front.py");
/** Whether the front runs here. */
export const hasPython = spawnSync("python3", ["-c", "import ssl"]).status === 0;

/** Represents uWSGI: it reports each request, and does not respond to one whose query has "wait=1". */
const WORKER = `
import os, socket, threading, time
listener = socket.socket(socket.AF_UNIX); listener.bind(os.environ["FRONT_SOCKET"]); listener.listen(500)
def serve(connection):
    data = connection.recv(65536)
    os.write(1, b"request\\n")
    if b"wait=1" in data:
        os.write(1, b"waits\\n")
        time.sleep(600)
    connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n" + (b"seen" if b"QUESTION" in data else b"")); connection.close()
while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
`;

/** A front that runs; one at a time. */
export class FrontOfApi {
  readonly dir = mkdtempSync(join(tmpdir(), "front-database-"));
  /** What the program and its worker wrote. */
  said = "";
  #child: ChildProcess | undefined;
  #port = 0;

  constructor() {
    writeFileSync(join(this.dir, "worker.py"), WORKER);
    mkdirSync(join(this.dir, "glance/glance.conf.d"), { recursive: true });
  }

  /** The front of an API whose configuration has this URL. */
  async start(url: string, env: Record<string, string> = {}): Promise<void> {
    this.#port = await freePort();
    this.said = "";
    const configuration = `[DEFAULT]\ndebug = false\n[database]\nconnection = ${url}\n`;
    writeFileSync(join(this.dir, "glance/glance.conf.d/10-secret.conf"), configuration);
    const quick = { DATABASE_INTERVAL: "0.1", DATABASE_AWAY_SECONDS: "1" };
    const its = {
      FRONT_SOCKET: join(this.dir, "api.sock"),
      FRONT_DATABASE: "glance",
      DATABASE_CONFIGURATION: this.dir,
    };
    const worker = ["python3", join(this.dir, "worker.py")];
    this.#child = spawn("python3", ["-IS", program, String(this.#port), "-", "-", ...worker], {
      env: { ...process.env, ...its, ...quick, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#child.stdout?.on("data", (chunk) => (this.said += String(chunk)));
    this.#child.stderr?.on("data", (chunk) => (this.said += String(chunk)));
    await this.until(async () => (await this.ask().catch(() => 0)) === 200);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const closed = new Promise((resolve) => child.once("close", resolve));
    // With its worker.
    process.kill(-child.pid, "SIGKILL");
    await closed;
  }

  remove(): void {
    rmSync(this.dir, { recursive: true });
  }

  async until(check: () => boolean | Promise<boolean>): Promise<void> {
    for (const end = Date.now() + 30_000; !(await check());) {
      if (Date.now() > end) throw new Error(`never came: ${check.toString()}; ${this.said}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  /** The status of a request, as a probe of the kubelet where there is a question. */
  ask(question?: string, path = "/"): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const headers = question === undefined ? {} : { "X-Causeway-Question": question };
      const sent = request({ port: this.#port, host: "127.0.0.1", path, headers }, (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode));
      });
      sent.once("error", reject);
      sent.end();
    });
  }

  /** Requests that reached a worker. */
  worked(): number {
    return this.said.split("request\n").length - 1;
  }

  /** Requests of them that their worker keeps. */
  kept(): number {
    return this.said.split("waits\n").length - 1;
  }
}
