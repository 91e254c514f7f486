import { expect, it } from "vitest";
import { createCloudPool } from "../pool.ts";
import { HastyClock, scriptedCloud, type Script } from "../testing/scripted-cloud.ts";

const MACHINES = 10_000;
/** Entries that a service puts on one page at most. */
const PAGE = 1_000;
/** Far less than by default, so that the budget decides. */
const RATE = 2;
const BURST = 10;

/** The servers and ports of a project, page by page; of everything else there is little. */
const project: Script = ({ path, query }, { url }) => {
  if (path.startsWith("/identity") || path.endsWith("/v2.1/")) return undefined;
  if (path.includes("/servers")) return paged("servers", path, { url, from: Number(query.get("marker") ?? 0) });
  if (path.endsWith("/ports")) return paged("ports", path, { url, from: Number(query.get("marker") ?? 0) });
  const plural = (path.split("/").at(-1) ?? "").replaceAll("-", "_");
  return { body: { [plural === "detail" ? (path.split("/").at(-2) ?? "") : plural]: [] } };
};

function paged(plural: string, path: string, { url, from }: { readonly url: string; readonly from: number }) {
  const items = Array.from({ length: Math.min(PAGE, MACHINES - from) }, (_, at) => ({
    id: `${plural}-${from + at}`,
    name: `machine-${from + at}`,
    status: "ACTIVE",
    addresses: {},
    metadata: {},
    fixed_ips: [],
  }));
  const next = from + PAGE;
  const links = next < MACHINES ? [{ rel: "next", href: `${url}${path}?marker=${next}` }] : [];
  return { body: { [plural]: items, [`${plural}_links`]: links } };
}

it("a cold start with ten thousand machines takes calls by the page, and exceeds a small budget at no moment", async () => {
  const clock = new HastyClock();
  const calls: number[] = [];
  const server = await scriptedCloud((seen, cloud) => {
    calls.push(clock.now());
    return project(seen, cloud);
  });
  const pool = createCloudPool({ clock, budget: { rate: RATE, burst: BURST, inFlight: 8 } });
  const begun = clock.now();
  const { watch } = pool.get(server.config);
  const lists = [
    watch.servers,
    watch.ports,
    watch.networks,
    watch.subnets,
    watch.routers,
    watch.securityGroups,
    watch.floatingIps,
    watch.volumes,
  ];
  await Promise.all(lists.map((informer) => informer.start()));
  expect([watch.servers.list().length, watch.ports.list().length]).toEqual([MACHINES, MACHINES]);
  // Twenty pages of servers and ports, one list of each other type, a token and the version of Nova.
  expect(calls.length).toBeLessThanOrEqual(30);
  expect(clock.now() - begun).toBeLessThanOrEqual(120_000);
  for (const [i, first] of calls.entries())
    for (const [j, last] of calls.entries()) {
      const most = BURST + Math.ceil(((last - first) / 1_000) * RATE) + 1;
      if (j >= i) expect(j - i + 1, `calls ${i} to ${j}`).toBeLessThanOrEqual(most);
    }
  expect(clock.now() - begun).toBeGreaterThanOrEqual(((calls.length - BURST) / RATE) * 1_000 - 1_000);
  await pool.close();
  await server.close();
});
