import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addonKinds, allKinds, magnumKinds, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { createMetrics, silentLog, systemClock } from "@causeway/foundation";
import { createClient, createInformers, loadKubeconfig } from "@causeway/kubernetes";
import { connectCloud, issueToken, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";
import { expect, it } from "vitest";
import { magnumOfSystem } from "./magnum.ts";
import { openState } from "./state.ts";

it("each cluster of `causeway up` gets a user of its own, also after a restart", async () => {
  const dir = mkdtempSync(join(tmpdir(), "magnum-of-system-"));
  const simulator = await startSimulator();
  const server = await startApiServer({
    crds: [...allKinds, ...addonKinds, ...magnumKinds].map(toCustomResourceDefinition),
  });
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  const config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
  const admin = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text: simulator.cloudsYaml }));
  const { token } = await issueToken(config);
  const tools = { clock: systemClock, log: silentLog };

  /** The user ids of clusters after the creation of one of this name. */
  const create = async (name: string): Promise<readonly string[]> => {
    const informers = createInformers(client, tools);
    const magnum = await magnumOfSystem(
      { config, cloudsYaml: simulator.cloudsYaml, simulator, close: async () => {} } as unknown as Parameters<
        typeof magnumOfSystem
      >[0],
      {
        state: openState(join(dir, "state")),
        informers,
        runtime: { default: "Embedded", programs: undefined },
        csiImage: undefined,
        metrics: createMetrics(),
        ...tools,
      },
    );
    if (magnum === undefined) throw new Error("there is no Magnum API");
    const stopping = new AbortController();
    const running = Promise.all([informers.run(stopping.signal), magnum.run(stopping.signal)]);
    await informers.whenSynced();
    const post = async (path: string, body: object): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${magnum.port}/v1${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-auth-token": token },
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as { uuid?: string };
      expect([response.status, answer]).toEqual([
        expect.any(Number),
        { ...answer, uuid: expect.any(String) as string },
      ]);
      return String(answer.uuid);
    };
    try {
      const template = { coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small", external_network_id: "public" };
      const uuid = await post("/clustertemplates", { name, ...template });
      const cluster = await post("/clusters", { name, cluster_template_id: uuid });
      const domains = await admin.identity.domains.all({ name: "magnum-clusters" });
      expect(domains).toHaveLength(1);
      const users = await admin.identity.users.all({ domain_id: domains[0]?.id ?? "" });
      expect(users.map((user) => user.name)).toContain(`magnum-${cluster}`);
      return users.map((user) => user.name);
    } finally {
      stopping.abort();
      await running;
    }
  };

  try {
    expect(await create("one")).toHaveLength(1);
    expect(await create("two")).toHaveLength(2);
  } finally {
    await admin.close();
    await client.close();
    await server.close();
    await simulator.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
