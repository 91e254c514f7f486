/** The simulated cloud in figures: many servers that come and go, long lists; all over its own HTTP. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";

/** Times in seconds, and of lists in milliseconds. */
interface Row {
  readonly name: string;
  readonly ours: Readonly<Record<string, number>>;
}

const servers = 1000;
const ports = 10_000;
/** Requests in flight at once. */
const width = 25;
const rounds = 9;

const { values } = parseArgs({ options: { json: { type: "string" } } });

const tenth = (value: number) => Math.round(value * 10) / 10;

/** Seconds that passed, and processor seconds that cloud and asker took. */
async function cost(work: () => Promise<void>): Promise<Readonly<Record<string, number>>> {
  const before = process.cpuUsage();
  const passed = await seconds(work);
  const { user, system } = process.cpuUsage(before);
  return { seconds: tenth(passed), processorSeconds: tenth((user + system) / 1_000_000) };
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

/** A raw client of one project: what is measured is the cloud, not the SDK's pace. */
interface Raw {
  readonly network: (method: string, path: string, body?: unknown) => Promise<unknown>;
  /** The answer to a GET as it came, unread. */
  readonly text: (path: string) => Promise<string>;
  readonly compute: (method: string, path: string, body?: unknown) => Promise<unknown>;
}

async function rawOf(authUrl: string): Promise<Raw> {
  const body = {
    auth: {
      identity: {
        methods: ["password"],
        password: { user: { name: "demo", domain: { name: "Default" }, password: "devcloud" } },
      },
      scope: { project: { name: "demo", domain: { name: "Default" } } },
    },
  };
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${authUrl}/auth/tokens`, { method: "POST", headers, body: JSON.stringify(body) });
  const token = answer.headers.get("x-subject-token") ?? "";
  const origin = new URL(authUrl).origin;
  const send = (root: string) => async (method: string, path: string, sent?: unknown) => {
    const response = await fetch(`${origin}${root}${path}`, {
      method,
      headers: { ...headers, "x-auth-token": token, "openstack-api-version": "compute 2.90" },
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  };
  const call = (root: string) => async (method: string, path: string, sent?: unknown) => {
    const text = await send(root)(method, path, sent);
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  };
  const text = (path: string) => send("")("GET", path);
  return { network: call("/network/v2.0"), compute: call("/compute/v2.1"), text };
}

/** Runs a job for each number below `count`, some at once. */
async function each(count: number, job: (place: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await job(next++);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

interface Made {
  readonly id: string;
}

async function network(raw: Raw, cidr: string): Promise<string> {
  const { network: made } = (await raw.network("POST", "/networks", { network: { name: "bench" } })) as {
    network: Made;
  };
  const subnet = { network_id: made.id, ip_version: 4, cidr };
  await raw.network("POST", "/subnets", { subnet });
  return made.id;
}

async function serverRows(cloud: Cloud, raw: Raw): Promise<readonly Row[]> {
  const networkId = await network(raw, "10.100.0.0/16");
  const [image] = await cloud.image.images.all({ name: "cirros" });
  const ids: string[] = [];
  const created = await cost(async () => {
    await each(servers, async (place) => {
      const { port } = (await raw.network("POST", "/ports", { port: { network_id: networkId } })) as { port: Made };
      const server = { name: `bench-${place}`, flavorRef: "1", imageRef: image?.id, networks: [{ port: port.id }] };
      const answer = (await raw.compute("POST", "/servers", { server })) as { server: Made };
      ids.push(answer.server.id);
    });
    await none(raw, "/servers?limit=1&status=BUILD");
  });
  const listed = await list(() => raw.text("/compute/v2.1/servers/detail?limit=1000"));
  const deleted = await cost(async () => {
    await each(servers, async (place) => void (await raw.compute("DELETE", `/servers/${ids[place]}`)));
    await none(raw, "/servers?limit=1");
    const { ports: left } = (await raw.network("GET", `/ports?network_id=${networkId}&fields=id`)) as {
      ports: readonly Made[];
    };
    await each(left.length, async (place) => {
      await raw.network("DELETE", `/ports/${left[place]?.id}`).catch(() => undefined);
    });
  });
  return [
    { name: `${servers} servers with a port each: created, ACTIVE`, ours: created },
    { name: `${servers} servers and their ports: deleted`, ours: deleted },
    { name: `list of ${servers} servers in full`, ours: listed },
  ];
}

/** Waits until a query finds no server. */
async function none(raw: Raw, query: string): Promise<void> {
  for (;;) {
    const { servers: found } = (await raw.compute("GET", query)) as { servers: readonly Made[] };
    if (found.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Milliseconds of the fastest and of the middle one of some requests, and of processor time that cloud and asker took
 * together: the figure that busy neighbours do not change.
 */
async function list(ask: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> {
  const times: number[] = [];
  await ask();
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) times.push((await seconds(async () => void (await ask()))) * 1000);
  const { user, system } = process.cpuUsage(before);
  times.sort((a, b) => a - b);
  const [fastest = 0, middle = 0] = [times[0], times[Math.floor(rounds / 2)]];
  const processor = (user + system) / 1000 / rounds;
  return { fastest: Math.round(fastest), middle: Math.round(middle), processor: Math.round(processor) };
}

async function portRows(raw: Raw): Promise<readonly Row[]> {
  const networkId = await network(raw, "10.200.0.0/16");
  const bulk = 500;
  const created = await cost(async () => {
    for (let made = 0; made < ports; made += bulk) {
      const asked = Array.from({ length: bulk }, (_, place) => ({ network_id: networkId, name: `p-${made + place}` }));
      await raw.network("POST", "/ports", { ports: asked });
    }
  });
  const query = `/network/v2.0/ports?network_id=${networkId}`;
  return [
    { name: `${ports} ports made, ${bulk} a request`, ours: created },
    { name: `list of ${ports} ports`, ours: await list(() => raw.text(query)) },
    {
      name: `list of ${ports} ports, some fields`,
      ours: await list(() => raw.text(`${query}&fields=id&fields=name`)),
    },
    {
      name: `one port of ${ports} by its address`,
      ours: await list(() => raw.text("/network/v2.0/ports?fixed_ips=ip_address=10.200.3.9")),
    },
  ];
}

const simulator = await startSimulator();
const config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
const cloud = connectCloud(config);
try {
  for (const [resource, limit] of Object.entries({ port: 2 * ports, instances: 2 * servers, cores: -1, ram: -1 })) {
    simulator.setQuota("demo", resource, limit);
  }
  const raw = await rawOf(simulator.authUrl);
  const rows = [...(await serverRows(cloud, raw)), ...(await portRows(raw))];
  console.table(Object.fromEntries(rows.map(({ name, ours }) => [name, ours])));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows }, null, 2)}\n`);
} finally {
  await cloud.close();
  await simulator.close();
}
