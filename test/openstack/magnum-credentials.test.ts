/**
 * The credential that a cluster has of the member who creates it, on a real OpenStack: an administrator's cluster works
 * with the roles that clusters need and no others, down to the load balancer of a Service, and leaves nothing.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, loadKubeconfig, Secret, secretText, Service } from "@causeway/kubernetes";
import { connectCloud, issueToken, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePorts } from "../support/free-ports.ts";
import { settledInventory } from "../support/inventory.ts";
import { causeway, eventually, type Started } from "../support/processes.ts";

const cloudName = process.env["OS_CLOUD"] ?? "devcloud";
const CREATOR = "causeway-credentials-creator";
const ROLES = ["admin", "load-balancer_member", "member"];
const TIMEOUT = 15 * 60_000;
const LIMIT = 20 * 60_000;

type Json = Readonly<Record<string, unknown>>;

describe("a cluster of the Magnum API with a credential of its creator", { timeout: LIMIT }, () => {
  let dir: string;
  let cloud: Cloud;
  let admin: Cloud;
  /** As the creator. */
  let own: Cloud;
  let creator: string;
  let token: string;
  let url: string;
  let uuid = "";
  let listing: string[];
  const started: Started[] = [];
  const removals: (() => Promise<unknown>)[] = [];

  async function api(method: string, path: string, body?: Json): Promise<{ status: number; body: Json }> {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        "x-auth-token": token,
        "openstack-api-version": "container-infra latest",
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Json) };
  }

  /** Deletes the cluster, if there is one, and returns when it is gone. */
  async function remove(): Promise<void> {
    expect(uuid).not.toBe("");
    await api("DELETE", `/clusters/${uuid}`);
    await eventually(TIMEOUT, async () => (await api("GET", `/clusters/${uuid}`)).status === 404);
  }

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "causeway-credentials-"));
    const config = loadCloudsYaml({ cloud: cloudName });
    cloud = connectCloud(config);
    admin = connectCloud(loadCloudsYaml({ cloud: `${cloudName}-admin` }));
    listing = await settledInventory(cloud, TIMEOUT);
    const { projectId = "" } = await issueToken(config);
    creator = (await admin.identity.users.create({ name: CREATOR, password: CREATOR })).id;
    removals.push(() => admin.identity.users.delete(creator));
    for (const name of ROLES) {
      const [role] = await admin.identity.roles.all({ name });
      await admin.identity.grant({ role: role?.id ?? "", user: creator, project: projectId });
    }
    const auth = { type: "password", userId: creator, password: CREATOR } as const;
    const creators = { ...config, auth, scope: { projectId } };
    own = connectCloud(creators);
    token = (await issueToken(creators)).token;
    const management = join(dir, "state", "management.kubeconfig");
    started.push(causeway(["machine-agent", "--cloud", cloudName, "--state", join(dir, "machines")]));
    started.push(causeway(["up", "--cloud", cloudName, "--state", join(dir, "state")]));
    await eventually(TIMEOUT, () => existsSync(management));
    const [port = 0] = await freePorts(1);
    const flags = ["--kubeconfig", management, "--keystone-url", config.authUrl, "--listen", `127.0.0.1:${port}`];
    if (config.region !== undefined) flags.push("--region", config.region);
    started.push(causeway(["run", "magnum-api", ...flags]));
    url = `http://127.0.0.1:${port}`;
    // Until it has read its management cluster, it responds with 503.
    await eventually(TIMEOUT, async () => (await api("GET", "/clusters")).status === 200);
  }, LIMIT);

  afterAll(async () => {
    if (uuid !== "") await remove().catch((error: unknown) => console.error(error));
    for (const each of started.toReversed()) await each.stop();
    await own?.close();
    for (const each of removals.toReversed()) await each().catch((error: unknown) => console.error(error));
    await Promise.all([cloud?.close(), admin?.close()]);
    rmSync(dir, { recursive: true, force: true });
  }, LIMIT);

  test("has only the roles that clusters need, though its creator is an administrator", async () => {
    const template = await api("POST", "/clustertemplates", {
      name: "credentials",
      coe: "kubernetes",
      image_id: "fedora-coreos",
      flavor_id: "m1.small",
      external_network_id: "public",
    });
    expect(template.status, JSON.stringify(template.body)).toBe(201);
    const labels = { causeway_addons: "none" };
    const made = await api("POST", "/clusters", {
      name: "limited",
      cluster_template_id: template.body["uuid"],
      node_count: 1,
      labels,
    });
    expect(made.status, JSON.stringify(made.body)).toBe(202);
    uuid = String(made.body["uuid"]);
    const all = await own.identity.applicationCredentials(creator).all();
    expect(all.map(({ name }) => name)).toEqual([expect.stringMatching(new RegExp(`^magnum-${uuid}-`))]);
    // Keystone gives the token of an application credential no implied roles: reader is named, too.
    const roles = all.flatMap((each) => (each.roles ?? []).map(({ name }) => name));
    expect(roles.toSorted()).toEqual(["load-balancer_member", "member", "reader"]);
    await eventually(TIMEOUT, async () => {
      const { body } = await api("GET", `/clusters/${uuid}`);
      if (body["status"] !== "CREATE_COMPLETE")
        throw new Error(JSON.stringify([body["status"], body["status_reason"]]));
      return true;
    });
  });

  test("creates the load balancer of a Service, and deletes it with the Service", async () => {
    const { body } = await api("GET", `/clusters/${uuid}`);
    const namespace = `magnum-${String(body["project_id"])}`;
    const management = createClient(
      loadKubeconfig({ text: readFileSync(join(dir, "state", "management.kubeconfig"), "utf8") }),
    );
    const secret = await management.get(Secret, { namespace, name: `${String(body["cluster_id"])}-kubeconfig` });
    await management.close();
    const client = createClient(loadKubeconfig({ text: secretText(secret, "value") ?? "" }));
    const key = { namespace: "default", name: "web" };
    await client.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { ...key, annotations: { "loadbalancer.openstack.org/provider": "ovn" } },
      spec: { type: "LoadBalancer", selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
    } as Service);
    const mine = async () =>
      (await cloud.loadBalancing.loadBalancers.all()).filter(({ name }) => name.endsWith("_default_web"));
    const address = await eventually(TIMEOUT, async () => {
      const found = (await client.get(Service, key)).status?.loadBalancer?.ingress?.[0]?.ip;
      if (found === undefined) throw new Error(JSON.stringify(await mine()));
      return found;
    });
    expect(address).toMatch(/^172\.24\.4\./);
    expect((await mine()).map(({ provider, provisioning_status }) => [provider, provisioning_status])).toEqual([
      ["ovn", "ACTIVE"],
    ]);
    await client.delete(Service, key);
    await eventually(TIMEOUT, async () => (await mine()).length === 0);
    await client.close();
  });

  test("revokes the credential with the cluster, of which nothing is left", async () => {
    await remove();
    expect((await api("DELETE", "/clustertemplates/credentials")).status).toBe(204);
    expect(await settledInventory(cloud, TIMEOUT)).toEqual(listing);
    expect(await own.identity.applicationCredentials(creator).all()).toEqual([]);
  });
});
