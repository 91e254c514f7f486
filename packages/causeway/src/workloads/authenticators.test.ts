import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startApiServer, type ApiServer, type LogicalCluster } from "@causeway/apiserver";
import { ConfigMap, createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { connectCloud, issueToken, loadCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { authenticators } from "./authenticators.ts";

const map = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
});

describe("a control plane with Keystone", () => {
  let simulator: Simulator;
  let server: ApiServer;
  let tenant: LogicalCluster;
  let projectId: string;
  const clients: KubernetesClient[] = [];

  const config = (cloud: string): CloudConfig => loadCloudsYaml({ cloud, text: simulator.cloudsYaml });

  beforeEach(async () => {
    simulator = await startSimulator({ profile: "instant" });
    const cloud = connectCloud(config("simulator"));
    projectId = await cloud.projectId();
    await cloud.close();
    server = await startApiServer({ authenticators });
    const roleMappings = [{ keystoneRole: "member", groups: ["system:masters"] }];
    const settings = { authURL: simulator.authUrl, projects: [projectId], roleMappings };
    tenant = await server.ensureCluster("tenant", { authentication: { external: { type: "keystone", settings } } });
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await server.close();
    await simulator.close();
  });

  async function as(token: string): Promise<KubernetesClient> {
    const { certificate: _, key: __, ...rest } = loadKubeconfig({ text: await tenant.kubeconfig() });
    const client = createClient({ ...rest, token });
    clients.push(client);
    return client;
  }

  it("serves a user with a token of its project, as the groups that the user's roles mean", async () => {
    const { token } = await issueToken(config("simulator"));
    const client = await as(token);
    await client.create(ConfigMap, map("mine"));
    expect((await client.list(ConfigMap, { namespace: "default" })).items.map((m) => m.metadata.name)).toContain(
      "mine",
    );
  });

  it("serves an application credential, and refuses it when it is deleted", async () => {
    const cloud = connectCloud(config("simulator"));
    const credentials = cloud.identity.applicationCredentials(await cloud.identity.currentUserId());
    const made = await credentials.create({ name: "kubectl" });
    const { scope: _, ...rest } = config("simulator");
    const auth = { type: "application_credential", id: made.id, secret: made.secret ?? "" } as const;
    const { token } = await issueToken({ ...rest, auth });
    await (await as(token)).create(ConfigMap, map("by-credential"));
    await credentials.delete(made.id);
    await cloud.close();
    await expect(issueToken({ ...rest, auth })).rejects.toThrow();
  });

  it("refuses tokens of other projects, and what is no token", async () => {
    const { token } = await issueToken(config("simulator-alt"));
    for (const bad of [token, `gAAAAAB${"x".repeat(180)}`, "garbage"])
      await expect((await as(bad)).list(ConfigMap, { namespace: "default" })).rejects.toMatchObject({
        code: "KUBERNETES_UNAUTHORIZED",
      });
  });

  it("remains reachable for its own identities while Keystone is away", async () => {
    simulator.setFaults(() => ({ when: "before", cut: true }));
    const own = createClient(loadKubeconfig({ text: await tenant.kubeconfig() }));
    clients.push(own);
    await own.create(ConfigMap, map("by-certificate"));
  });
});
