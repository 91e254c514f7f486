/**
 * A managed cluster on a real OpenStack with the unchanged openstack client: `causeway up --cloud`, `causeway run
 * magnum-api` in the catalog of a region of its own, create, config, kubectl, resize, upgrade, delete, and a check of
 * the project afterwards. Its own magnum is left alone. With CAUSEWAY_MAGNUM_PROGRAMS (a folder of programs by version)
 * control planes are etcd, kube-apiserver, kube-controller-manager and kube-scheduler, and CAUSEWAY_MAGNUM_VERSIONS has
 * the two minors of the upgrade; otherwise they are embedded.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { connectCloud, issueToken, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { freePorts } from "../support/free-ports.ts";
import { inventory, settledInventory } from "../support/inventory.ts";
import { causeway, eventually, kubectl, type Started } from "../support/processes.ts";

const cloudName = process.env["OS_CLOUD"] ?? "devcloud";
const REGION = "causeway-magnum";
/** The user who creates the cluster, and is deleted while it lives. */
const CREATOR = "causeway-magnum-creator";
/** Of the users of clusters. */
const DOMAIN = "causeway-magnum-clusters";
const ROLES = ["member", "load-balancer_member"];
const programs = process.env["CAUSEWAY_MAGNUM_PROGRAMS"];
const [before = "v1.34.0", after = "v1.34.1"] = process.env["CAUSEWAY_MAGNUM_VERSIONS"]?.split(" ") ?? [];
const minutes = 60_000;
/** How long each thing may take on a machine that is slow. */
const TIMEOUT = 15 * minutes;
const LIMIT = 20 * minutes;

describe("a managed cluster on a real OpenStack", { timeout: LIMIT }, () => {
  let dir: string;
  let cloud: Cloud;
  let admin: Cloud;
  let listing: string[];
  let credentialsBefore: string[];
  let creator: string;
  let domain: string;
  const started: Started[] = [];
  const removals: (() => Promise<unknown>)[] = [];
  const management = () => join(dir, "state", "management.kubeconfig");
  const credentials = async (): Promise<string[]> => {
    const all = await cloud.identity.applicationCredentials(await cloud.identity.currentUserId()).all();
    return all.map(({ id, name }) => `${id} ${name}`).toSorted();
  };

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "causeway-magnum-"));
    cloud = connectCloud(loadCloudsYaml({ cloud: cloudName }));
    admin = connectCloud(loadCloudsYaml({ cloud: `${cloudName}-admin` }));
    listing = await settledInventory(cloud, TIMEOUT);
    credentialsBefore = await credentials();
    await makeUsers();
    const runtime = programs === undefined ? [] : ["--runtime", "process", "--programs", programs];
    started.push(causeway(["machine-agent", "--cloud", cloudName, "--state", join(dir, "machines")]));
    started.push(causeway(["up", "--cloud", cloudName, "--state", join(dir, "state"), ...runtime]));
    await eventually(TIMEOUT, () => existsSync(management()));
    const { authUrl, region } = loadCloudsYaml({ cloud: cloudName });
    const [port = 0] = await freePorts(1);
    const trustees = ["--trustee-cloud", `${cloudName}-admin`, "--trustee-domain", DOMAIN];
    const flags = ["--kubeconfig", management(), "--keystone-url", authUrl, "--listen", `127.0.0.1:${port}`];
    flags.push(...trustees, "--trustee-roles", ROLES.join(","));
    if (programs !== undefined) flags.push("--control-plane-runtime", "Process");
    started.push(causeway(["run", "magnum-api", ...flags, ...(region === undefined ? [] : ["--region", region])]));
    const url = `http://127.0.0.1:${port}`;
    await eventually(TIMEOUT, () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    await register(`${url}/v1`);
    writeFileSync(join(dir, "clouds.yaml"), inRegion(REGION), { mode: 0o600 });
  }, LIMIT);

  afterAll(async () => {
    for (const remove of removals.toReversed()) await remove().catch((error: unknown) => console.error(error));
    for (const each of started.toReversed()) await each.stop();
    await Promise.all([cloud?.close(), admin?.close()]);
    rmSync(dir, { recursive: true, force: true });
  }, LIMIT);

  /** A member of the project who will be deleted, and a domain for users of clusters. */
  async function makeUsers(): Promise<void> {
    const { identity } = admin;
    const project = (await issueToken(loadCloudsYaml({ cloud: cloudName }))).projectId ?? "";
    const user = await identity.users.create({ name: CREATOR, password: CREATOR });
    creator = user.id;
    removals.push(() => identity.users.delete(creator));
    for (const name of ROLES) {
      const [role] = await identity.roles.all({ name });
      await identity.grant({ role: role?.id ?? "", user: creator, project });
    }
    domain = (await identity.domains.create({ name: DOMAIN })).id;
    removals.push(async () => {
      await identity.domains.update(domain, { enabled: false });
      await identity.domains.delete(domain);
    });
  }

  const usersOfClusters = async (): Promise<string[]> =>
    (await admin.identity.users.all({ domain_id: domain })).map(({ name }) => name);

  /** The client finds the API in the catalog, in a region where it is the only service. */
  async function register(url: string): Promise<void> {
    const { identity } = admin;
    await identity.regions.create({ id: REGION, description: "of a test of the Magnum API" });
    removals.push(() => identity.regions.delete(REGION));
    const service = await identity.services.create({ type: "container-infra", name: "causeway-magnum" });
    removals.push(() => identity.services.delete(service.id));
    const endpoint = await identity.endpoints.create({
      service_id: service.id,
      interface: "public",
      url,
      region_id: REGION,
    });
    removals.push(() => identity.endpoints.delete(endpoint.id));
  }

  /** The clouds.yaml with the cloud in another region. */
  function inRegion(region_name: string): string {
    const text = readFileSync(process.env["OS_CLIENT_CONFIG_FILE"] ?? "/var/lib/devcloud/clouds.yaml", "utf8");
    const { clouds } = parse(text) as { clouds: Record<string, object> };
    const own = { ...clouds[cloudName], region_name } as { readonly auth?: object };
    const auth = { ...own.auth, username: CREATOR, password: CREATOR };
    return stringify({ clouds: { [cloudName]: own, [CREATOR]: { ...own, auth } } });
  }

  /** The output of `openstack coe COMMAND…`. */
  function coe(command: string, as = cloudName): Promise<string> {
    // `coe cluster config` needs SHELL, which a program without a terminal need not have.
    const env = {
      SHELL: "/bin/sh",
      ...process.env,
      OS_CLIENT_CONFIG_FILE: join(dir, "clouds.yaml"),
      OS_CLOUD: as,
    };
    return new Promise((done, reject) => {
      execFile("openstack", ["coe", ...command.split(" ")], { env, cwd: dir }, (error, stdout, stderr) => {
        if (error) reject(new Error(`openstack coe ${command}: ${stdout}${stderr}`));
        else done(stdout);
      });
    });
  }

  const shown = async (): Promise<Record<string, unknown>> =>
    JSON.parse(await coe("cluster show real -f json")) as Record<string, unknown>;

  async function becomes(status: string): Promise<void> {
    const end = Date.now() + TIMEOUT;
    let found: Record<string, unknown> = {};
    while (Date.now() < end) {
      found = await shown();
      if (found["status"] === status) return;
      await new Promise((done) => setTimeout(done, 3_000));
    }
    expect([found["status"], found["status_reason"]]).toEqual([status, expect.anything()]);
  }

  interface NodeView {
    readonly metadata: { readonly name: string };
    readonly status: {
      readonly nodeInfo: { readonly kubeletVersion: string };
      readonly conditions: readonly { readonly type: string; readonly status: string }[];
    };
  }

  function nodes(): readonly NodeView[] {
    const { items } = JSON.parse(kubectl(join(dir, "config"), "get", "nodes", "-o", "json")) as { items: NodeView[] };
    for (const { status } of items)
      expect(status.conditions.find(({ type }) => type === "Ready")?.status, JSON.stringify(items)).toBe("True");
    return items;
  }

  interface PodView {
    readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
    readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image: string }[] };
    readonly status: { readonly phase: string };
  }

  /** Images of what `kubectl get pods -A` shows on nodes that there are: all of it runs. */
  function pods(): readonly string[] {
    const there = new Set(nodes().map(({ metadata }) => metadata.name));
    const { items } = JSON.parse(kubectl(join(dir, "config"), "get", "pods", "-A", "-o", "json")) as {
      items: PodView[];
    };
    const left = items.filter(
      ({ metadata, spec }) => metadata.deletionTimestamp === undefined && there.has(spec.nodeName ?? ""),
    );
    for (const { metadata, status } of left) expect([metadata.name, status.phase]).toEqual([metadata.name, "Running"]);
    return left.map(({ spec }) => spec.containers[0]?.image ?? "").toSorted();
  }

  const addons = (version: string, nodes: number): readonly string[] => [
    ...Array<string>(nodes).fill("ghcr.io/flannel-io/flannel:v0.28.4"),
    ...Array<string>(2).fill(`registry.k8s.io/coredns/coredns:${version.startsWith("v1.33.") ? "v1.12.0" : "v1.12.1"}`),
    ...Array<string>(nodes).fill(`registry.k8s.io/kube-proxy:${version}`),
  ];

  const template = (name: string, version: string): string =>
    `cluster template create ${name} --coe kubernetes --image fedora-coreos --flavor m1.small --external-network public --labels kube_tag=${version}`;

  test("coe cluster create makes a cluster, whose nodes kubectl shows by the kubeconfig of coe cluster config", async () => {
    await coe(template("small", before));
    removals.push(() => coe("cluster template delete small"));
    await coe("cluster create real --cluster-template small --node-count 1", CREATOR);
    await becomes("CREATE_COMPLETE");
    expect(await usersOfClusters()).toEqual([`magnum-${String((await shown())["uuid"])}`]);
    await coe("cluster config real --dir . --force");
    expect(nodes()).toHaveLength(1);
    expect(pods()).toEqual(addons(before, 1));
    const servers = await cloud.compute.servers.all();
    expect(servers.map(({ name }) => name)).toEqual(
      expect.arrayContaining(nodes().map(({ metadata }) => metadata.name)),
    );
  });

  test("coe cluster resize adds nodes and takes them away, once the creator's user is deleted", async () => {
    await admin.identity.users.delete(creator);
    await coe("cluster resize real 3");
    await becomes("UPDATE_COMPLETE");
    expect(nodes()).toHaveLength(3);
    await coe("cluster resize real 2");
    await becomes("UPDATE_COMPLETE");
    expect(nodes()).toHaveLength(2);
  });

  test("coe cluster upgrade replaces each node by one of the new version", async () => {
    await coe(template("newer", after));
    removals.push(() => coe("cluster template delete newer"));
    const old = nodes().map(({ metadata }) => metadata.name);
    await coe("cluster upgrade real newer");
    await becomes("UPDATE_COMPLETE");
    const now = nodes();
    expect(now.map(({ status }) => status.nodeInfo.kubeletVersion)).toEqual([after, after]);
    expect(now.filter(({ metadata }) => old.includes(metadata.name))).toEqual([]);
    expect((await shown())["coe_version"]).toBe(after);
    expect(pods()).toEqual(addons(after, 2));
  });

  test("coe cluster delete leaves the project, and its user's application credentials, as they were", async () => {
    await coe("cluster delete real");
    await eventually(TIMEOUT, async () => !(await coe("cluster list")).includes("real"));
    expect(await inventory(cloud)).toEqual(listing);
    expect(await credentials()).toEqual(credentialsBefore);
    expect(await usersOfClusters()).toEqual([]);
  });
});
