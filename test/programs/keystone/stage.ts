/** A simulated cloud with `causeway` programs as processes of their own, for a real kube-apiserver and kubectl. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createAuthority } from "@causeway/foundation";
import { connectCloud, loadCloudsYaml, type Cloud, type CloudConfig } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { freePorts } from "../../support/free-ports.ts";
import { servingOnLoopback } from "../../support/serving.ts";
import { launch, type RunningProgram } from "../run.ts";

const MAIN = resolve(import.meta.dirname, "../../../packages/causeway/src/main.ts");
const DAY = 86_400_000;

export class Stage {
  readonly dir = mkdtempSync(join(tmpdir(), "keystone-"));
  readonly simulator: Simulator;
  readonly #children: RunningProgram[] = [];

  private constructor(simulator: Simulator) {
    this.simulator = simulator;
    this.write("clouds.yaml", simulator.cloudsYaml);
  }

  static async start(): Promise<Stage> {
    return new Stage(await startSimulator({ profile: "instant" }));
  }

  /** Replaces a file as a whole. */
  write(name: string, content: string): string {
    const path = join(this.dir, name);
    mkdirSync(this.dir, { recursive: true });
    writeFileSync(`${path}.new`, content, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    return path;
  }

  config(cloud = "simulator"): CloudConfig {
    return loadCloudsYaml({ cloud, path: join(this.dir, "clouds.yaml") });
  }

  cloud(name = "simulator"): Cloud {
    return connectCloud(this.config(name));
  }

  /** A causeway command as a process. */
  run(...args: string[]): RunningProgram {
    const running = launch(process.execPath, [MAIN, ...args]);
    this.#children.push(running);
    return running;
  }

  /** The words of a kubeconfig's exec entry that run a causeway command. */
  readonly command = { command: process.execPath, args: [MAIN] };

  /** `causeway run keystone-auth`; the kubeconfig that kube-apiserver finds it with. */
  async webhook(...flags: string[]): Promise<{ kubeconfig: string; running: RunningProgram }> {
    const authority = await createAuthority({ commonName: "webhook", lifetime: DAY });
    const pair = await servingOnLoopback(authority, "keystone-auth");
    const [port = 0] = await freePorts(1);
    const tls = [
      "--tls-cert-file",
      this.write("webhook.crt", pair.certificate),
      "--tls-private-key-file",
      this.write("webhook.key", pair.key),
    ];
    const at = ["--listen", `127.0.0.1:${port}`, "--keystone-url", this.simulator.authUrl];
    const running = this.run("run", "keystone-auth", ...at, ...tls, "-v", "4", ...flags);
    await running.until(/the webhook listens/);
    const ca = Buffer.from(authority.certificate).toString("base64");
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        { name: "w", cluster: { server: `https://127.0.0.1:${port}/webhook`, "certificate-authority-data": ca } },
      ],
      users: [{ name: "w", user: {} }],
      contexts: [{ name: "w", context: { cluster: "w", user: "w" } }],
      "current-context": "w",
    };
    return { kubeconfig: this.write("webhook.kubeconfig", JSON.stringify(config)), running };
  }

  async close(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.stop()));
    await this.simulator.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
