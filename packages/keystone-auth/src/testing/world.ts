import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { createAuthority, createLog, createMetrics, issueCertificate, VirtualClock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { connectCloud, issueToken, loadCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { runKeystoneAuth } from "../keystone-auth.ts";
import { readSettings, type Flags } from "../settings/settings.ts";
import { record, type Json } from "../values.ts";

/** A webhook, the simulated Keystone behind it and a cluster. */
export class World {
  readonly dir = mkdtempSync(join(tmpdir(), "keystone-auth-"));
  readonly clock = new VirtualClock(Date.now());
  readonly ending = new AbortController();
  readonly lines: string[] = [];
  /** Tokens that must not be in any line. */
  readonly secrets: string[] = [];
  readonly metrics = createMetrics();
  readonly simulator: Simulator;
  readonly agent: Agent;
  running: Promise<void> | undefined;
  port = 0;

  private constructor(simulator: Simulator, agent: Agent) {
    this.simulator = simulator;
    this.agent = agent;
  }

  static async start(): Promise<World> {
    const authority = await createAuthority({ commonName: "test", lifetime: 86_400_000 });
    const pair = await issueCertificate(authority, {
      commonName: "webhook",
      ipAddresses: ["127.0.0.1"],
      usages: ["server"],
      lifetime: 86_400_000,
    });
    const world = new World(
      await startSimulator({ profile: "instant" }),
      new Agent({ ca: authority.certificate, keepAlive: true }),
    );
    world.write("tls.crt", pair.certificate);
    world.write("tls.key", pair.key);
    return world;
  }

  write(name: string, content: string): string {
    const path = join(this.dir, name);
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
    return path;
  }

  async run(flags: Flags, client?: KubernetesClient): Promise<void> {
    const settings = readSettings(
      {
        listen: "127.0.0.1:0",
        keystoneUrl: this.simulator.authUrl,
        tlsCertFile: join(this.dir, "tls.crt"),
        tlsPrivateKeyFile: join(this.dir, "tls.key"),
        ...flags,
      },
      {},
    );
    const log = createLog({ level: "debug", destination: { write: (line) => this.lines.push(line) } });
    const options = { settings, client, metrics: this.metrics, clock: this.clock, log };
    await new Promise<void>((resolve, reject) => {
      const onListening = (port: number): void => {
        this.port = port;
        resolve();
      };
      this.running = runKeystoneAuth({ ...options, onListening }, this.ending.signal);
      this.running.catch(reject);
    });
  }

  post(body: unknown, path = "/webhook", method = "POST"): Promise<{ status: number; body: Json }> {
    return new Promise((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port: this.port, path, method, agent: this.agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const content = Buffer.concat(chunks).toString();
          const json = response.headers["content-type"] === "application/json";
          resolve({ status: response.statusCode ?? 0, body: json ? record(JSON.parse(content)) : { content } });
        });
      });
      sent.on("error", reject);
      sent.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  }

  async token(token: string, version = "v1"): Promise<Json> {
    if (token.length > 16) this.secrets.push(token);
    const review = { apiVersion: `authentication.k8s.io/${version}`, kind: "TokenReview", spec: { token } };
    const { status, body } = await this.post(review);
    expect(status).toBe(200);
    expect(body["apiVersion"]).toBe(review.apiVersion);
    expect(JSON.stringify(body)).not.toContain(token);
    return record(body["status"]);
  }

  async access(user: Json, attributes: Json, version = "v1"): Promise<boolean> {
    const { username, uid, groups, extra } = user;
    const named = version === "v1" ? { groups } : { group: groups };
    const spec = { user: username, uid, ...named, extra, resourceAttributes: attributes };
    const review = { apiVersion: `authorization.k8s.io/${version}`, kind: "SubjectAccessReview", spec };
    const { status, body } = await this.post(review);
    expect(status).toBe(200);
    return record(body["status"])["allowed"] === true;
  }

  config(cloud = "simulator"): CloudConfig {
    const path = this.write("clouds.yaml", this.simulator.cloudsYaml);
    return loadCloudsYaml({ cloud, path });
  }

  async issue(cloud = "simulator"): Promise<string> {
    return (await issueToken(this.config(cloud))).token;
  }

  /**
   * A user and a project named demo in another domain, whose administrator chose both names; the user is also in a
   * group of the name "ops" there.
   */
  async issueOfAnotherDomain(): Promise<string> {
    const cloud = connectCloud(this.config("simulator-admin"));
    const { identity } = cloud;
    const domain = await identity.domains.create({ name: "Other" });
    const project = await identity.projects.create({ name: "demo", domain_id: domain.id });
    const user = await identity.users.create({ name: "demo", domain_id: domain.id, password: "secret" });
    const group = await identity.groups.create({ name: "ops", domain_id: domain.id });
    await identity.addToGroup(group.id, user.id);
    const [role] = await identity.roles.all({ name: "member" });
    if (role === undefined) throw new Error("the cloud has no role member");
    await identity.grant({ role: role.id, user: user.id, project: project.id });
    await cloud.close();
    const auth = { type: "password", username: "demo", userDomain: { id: domain.id }, password: "secret" } as const;
    const scope = { projectName: "demo", projectDomain: { id: domain.id } };
    return (await issueToken({ ...this.config(), auth, scope })).token;
  }

  keystoneCalls(): number {
    return this.simulator.calls.filter((call) => call.service === "identity").length;
  }

  async close(): Promise<void> {
    this.ending.abort();
    await this.running?.catch(() => {});
    this.agent.destroy();
    await this.simulator.close();
    rmSync(this.dir, { recursive: true, force: true });
    for (const secret of this.secrets) expect(this.lines.join("")).not.toContain(secret);
  }
}
