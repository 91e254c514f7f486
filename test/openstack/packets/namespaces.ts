import { execFile, spawn, type ChildProcess } from "node:child_process";
import { promisify } from "node:util";
import type { Server } from "@causeway/openstack";
import { PEER, type Answer, type Heard, type Questions } from "./peer.ts";

const run = promisify(execFile);

/** Programs inside servers that are network namespaces of this host. */
export class Namespaces {
  readonly #serving = new Map<string, ChildProcess>();

  /** Answers on a port of the server, TCP and UDP, until `silence`. */
  async serve(server: Server, port: number): Promise<void> {
    const args = ["netns", "exec", `vm-${server.id}`, process.execPath, PEER, "serve", server.name, String(port)];
    const child = spawn("ip", args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#serving.set(`${server.id} ${port}`, child);
    await new Promise<void>((done, reject) => {
      child.stdout.once("data", () => done());
      child.once("exit", (code) => reject(new Error(`${server.name} does not serve ${port}: ended with ${code}`)));
    });
  }

  /** Kills what answers on that port. */
  silence(server: Server, port: number): Promise<void> {
    const key = `${server.id} ${port}`;
    const child = this.#serving.get(key);
    this.#serving.delete(key);
    if (!child || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((done) => {
      child.once("exit", () => done());
      child.kill("SIGKILL");
    });
  }

  /** What so many questions from inside the server got. */
  async ask(from: Server, { protocol, address, port, count }: Questions): Promise<Heard> {
    const asking = [PEER, "ask", protocol, address, String(port), String(count)];
    const { stdout } = await run("ip", ["netns", "exec", `vm-${from.id}`, process.execPath, ...asking]);
    return (JSON.parse(stdout) as (Answer | null)[]).map((a) => a ?? undefined);
  }

  async close(): Promise<void> {
    for (const child of this.#serving.values()) child.kill("SIGKILL");
    this.#serving.clear();
  }
}
