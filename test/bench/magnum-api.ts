/**
 * The Magnum API with many clusters, next to Debian's real one of tools/devcloud, on the same Keystone and machine: the
 * list, the list with details, one cluster, and a burst of creates until they are accepted: upstream's API checks their
 * names in the cloud, as ours does, and hands them to its conductor, which does not run; ours has a row and a
 * credential of each when it responds. `--count 1500`, `--burst 200`, `--seconds 10` of each row, `--ours` alone,
 * `--json FILE`. It creates application credentials in the project "alt" of devcloud, and deletes them. With
 * `--simulated` ours alone runs on the Keystone of a simulated cloud, which needs nothing else.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { connectCloud, createApplicationCredentialClient, issueToken, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";
import { rounded } from "./apiserver/rows.ts";
import { makeRows, type Rows } from "./magnum-api/clusters.ts";
import { clientOf, measured, wholeList, type Figures, type Send, type Subject } from "./magnum-api/load.ts";
import { startOurs } from "./magnum-api/ours.ts";
import { obstacle, startUpstream } from "./magnum-api/upstream.ts";

interface Row {
  readonly name: string;
  readonly by: "perSecond" | "p99Milliseconds" | "memoryMiB";
  readonly ours: Figures;
  readonly upstream?: Figures;
  readonly note?: string;
}

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    count: { type: "string", default: "1500" },
    burst: { type: "string", default: "200" },
    seconds: { type: "string", default: "10" },
    ours: { type: "boolean", default: false },
    simulated: { type: "boolean", default: false },
  },
});
const [count, burst, seconds] = [values.count, values.burst, values.seconds].map(Number) as [number, number, number];
if (![count, burst, seconds].every((n) => Number.isInteger(n) && n > 0))
  throw new Error("--count, --burst and --seconds take whole numbers from 1");
/** Requests under way at once. */
const WIDTH = 4;
const PAGE = 1_000;
/** Of many clusters a page is measured by itself, too: where in the list it begins differs from one to the next. */
const isPaged = count >= 5 * PAGE;
const BURST_WIDTH = 20;

const simulator = values.simulated ? await startSimulator() : undefined;
const problem = simulator ? undefined : obstacle();
if (problem !== undefined) throw new Error(`devcloud's Keystone is needed, or --simulated: ${problem}`);
const config = loadCloudsYaml(
  simulator
    ? { cloud: "simulator", text: simulator.cloudsYaml }
    : {
        cloud: "devcloud-alt",
        text: readFileSync(join(process.env["DEVCLOUD_DIR"] ?? "/var/lib/devcloud", "clouds.yaml"), "utf8"),
      },
);
const cloud = connectCloud(config);
const { token, projectId: projectID = "" } = await issueToken(config);
const userID = await cloud.identity.currentUserId();
const rows = makeRows(count, { projectID, userID });
const base = mkdtempSync(join(tmpdir(), "bench-magnum-api-"));

/** The rows that a server with these clusters can serve, by name. */
async function reads(subject: Subject, { clusters }: Rows): Promise<readonly Figures[]> {
  const client = clientOf(subject.url, token, WIDTH);
  const { send } = client;
  const list = (path: string) => () => wholeList(send, path, count);
  const page = (path: string) => async (at: number) => {
    const marker = clusters[(at * 997) % Math.max(1, count - PAGE)]?.uuid ?? "";
    const { status, text } = await send("GET", `${path}?limit=${PAGE}&marker=${marker}`);
    if (status !== 200) throw new Error(`a page is ${status}: ${text.slice(0, 300)}`);
    return text.length;
  };
  const show = async (at: number): Promise<number> => {
    const uuid = clusters[(at * 37) % count]?.uuid ?? "";
    const { status, text } = await send("GET", `/v1/clusters/${uuid}`);
    if (status !== 200) throw new Error(`a cluster is ${status}: ${text.slice(0, 300)}`);
    return text.length;
  };
  try {
    const figures: Figures[] = [];
    const pages = [page("/v1/clusters"), page("/v1/clusters/detail")];
    const lists = [list("/v1/clusters"), list("/v1/clusters/detail")];
    for (const call of [...lists, ...(isPaged ? pages : []), show]) {
      figures.push(await measured(subject, { width: WIDTH, seconds, most: Infinity, call }));
      console.error(subject.name, JSON.stringify(figures.at(-1)));
    }
    return figures;
  } finally {
    client.close();
  }
}

async function creates(subject: Subject): Promise<Figures> {
  const client = clientOf(subject.url, token, BURST_WIDTH);
  const accepted = async (send: Send, path: string, body: object): Promise<string> => {
    const { status, text } = await send("POST", path, body);
    if (status !== 201 && status !== 202) throw new Error(`${path} is ${status}: ${text.slice(0, 300)}`);
    return text;
  };
  const credentials = cloud.identity.applicationCredentials(userID);
  const before = new Set((await credentials.all()).map(({ id }) => id));
  try {
    // Upstream serves the distribution of this one alone.
    const template = { name: "burst", coe: "kubernetes", image_id: "fedora-coreos", flavor_id: "m1.small" };
    await accepted(client.send, "/v1/clustertemplates", { ...template, external_network_id: "public" });
    const call = async (at: number): Promise<number> => {
      const body = { name: `burst-${at}`, cluster_template_id: "burst", node_count: 1 };
      return (await accepted(client.send, "/v1/clusters", body)).length;
    };
    return await measured(subject, { width: BURST_WIDTH, seconds: 600, most: burst, call });
  } finally {
    client.close();
    for (const { id } of await credentials.all()) if (!before.has(id)) await credentials.delete(id);
  }
}

/** What each of our creates waits for, by itself: as many can be accepted as Keystone makes, and no more. */
async function keystoneAlone(subject: Subject): Promise<Figures> {
  const client = createApplicationCredentialClient(config);
  const made: { readonly id: string; readonly secret: string }[] = [];
  const call = async (at: number): Promise<number> => {
    made.push(await client.create(token, userID, { name: `bench-${process.pid}-${at}`, unrestricted: true }));
    return 0;
  };
  try {
    return await measured(subject, { width: BURST_WIDTH, seconds: 600, most: burst, call });
  } finally {
    client.close();
    for (const { id } of made) await cloud.identity.applicationCredentials(userID).delete(id);
  }
}

async function measureOurs(): Promise<readonly Figures[]> {
  const ours = await startOurs(base, config.authUrl);
  try {
    await ours.add(rows);
    return [...(await reads(ours, rows)), await creates(ours), await keystoneAlone(ours)];
  } finally {
    await ours.close();
  }
}

async function measureUpstream(): Promise<readonly Figures[]> {
  const upstream = await startUpstream(base, rows);
  try {
    return [...(await reads(upstream, rows)), await creates(upstream)];
  } finally {
    await upstream.close();
  }
}

const PAGES = `in pages of 1,000, ${WIDTH} at once`;
const named: readonly Pick<Row, "name" | "by" | "note">[] = [
  { name: `whole list of ${count} clusters, ${PAGES}`, by: "perSecond" },
  { name: `whole list of ${count} clusters with details, ${PAGES}`, by: "perSecond" },
  ...(isPaged
    ? ([
        { name: `a page of ${PAGE} of ${count} clusters, ${WIDTH} at once`, by: "perSecond" },
        { name: `a page of ${PAGE} of ${count} clusters with details, ${WIDTH} at once`, by: "perSecond" },
      ] as const)
    : []),
  { name: `one cluster of ${count}, ${WIDTH} at once`, by: "perSecond" },
  {
    name: `burst of ${burst} creates, ${BURST_WIDTH} at once`,
    by: "perSecond",
    note: values.simulated
      ? "the simulated cloud's Keystone makes an application credential for each"
      : "until they are accepted. Ours has a row and an application credential of each by then; upstream's has handed it to a message bus, in its own memory here, and its conductor makes row, trustee and trust later: that is not measured, nor do its creates end here, since devcloud's servers boot nothing",
  },
  {
    name: `Keystone alone: ${burst} application credentials, ${BURST_WIDTH} at once`,
    by: "perSecond",
    note: "without the Magnum API: a create of ours takes one of these, so that this is its limit; memory and processor time are those of the idle API",
  },
];

/** A row of throughput gives one of latency with the same figures; the last read one of memory, too. */
function rowsOf(ours: readonly Figures[], upstream: readonly Figures[] | undefined): readonly Row[] {
  const roundedOf = (figures: Figures): Figures =>
    Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, rounded(value)])) as unknown as Figures;
  const all = named.flatMap((row, at): Row[] => {
    const [mine, theirs] = [ours[at], upstream?.[at]];
    if (mine === undefined) return [];
    const both = { ours: roundedOf(mine), ...(theirs ? { upstream: roundedOf(theirs) } : {}) };
    const latency: Row = { ...row, name: `${row.name}, p99`, by: "p99Milliseconds", ...both };
    return [{ ...row, ...both }, latency];
  });
  const read = all.findLast(({ name }) => name.startsWith("one cluster") && !name.endsWith("p99"));
  const note = "of the API's processes; the management cluster's API server and MariaDB are not counted";
  return read
    ? [...all, { ...read, name: `memory with ${count} clusters, after the reads`, by: "memoryMiB", note }]
    : all;
}

try {
  const why = values.ours || values.simulated ? "only ours is wanted" : obstacle();
  if (why !== undefined) console.error(`upstream is not measured: ${why}`);
  const ours = await measureOurs();
  const result = rowsOf(ours, why === undefined ? await measureUpstream() : undefined);
  console.table(
    Object.fromEntries(
      result.map(({ name, by, ours, upstream }) => [name, { by, ours: ours[by], upstream: upstream?.[by] }]),
    ),
  );
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows: result }, undefined, 2)}\n`);
} finally {
  await cloud.close();
  await simulator?.close();
  rmSync(base, { recursive: true, force: true });
}
