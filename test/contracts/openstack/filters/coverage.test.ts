import { expect, test } from "vitest";
import { startSimulator } from "@causeway/simulator";
import { filteredLists } from "./lists.ts";
import { unfiltered } from "./unfiltered.ts";

/** Where each service's endpoint begins below its root, by the root. */
const services: Readonly<Record<string, readonly [type: string, endpoint: RegExp]>> = {
  compute: ["compute", /^\/v2\.1/],
  identity: ["identity", /^\/v3/],
  image: ["image", /^/],
  "key-manager": ["key-manager", /^/],
  "load-balancer": ["load-balancer", /^/],
  network: ["network", /^/],
  placement: ["placement", /^/],
  share: ["sharev2", /^\/v2/],
  volume: ["volumev3", /^\/v3\/:project/],
};

/** "network /v2.0/floatingips/{}/port_forwardings" of a route; undefined: no list has such a path. */
function listed(path: string): string | undefined {
  const [, root = "", below = ""] = /^\/([^/]+)(.*)$/.exec(path) ?? [];
  const [type, endpoint] = services[root] ?? [];
  if (type === undefined || endpoint === undefined || !endpoint.test(below)) return undefined;
  const own = below
    .replace(endpoint, "")
    .replace(/^\/:v\{[^}]*\}(?:\/\/)?/, "/v2")
    .replaceAll(/:\w+(?:\{[^}]*\})?/g, "{}");
  // Octavia has each path twice, with and without "lbaas", but for amphorae.
  if (type === "load-balancer" && !/\/(?:lbaas|octavia)\//.test(own)) return undefined;
  const isDocument = own === "" || own.endsWith("/") || own.endsWith("{}") || /^\/v[\d.]+(?:\/lbaas)?$/.test(own);
  return isDocument && !own.includes("schemas") ? undefined : `${type} ${own}`;
}

/** The path of a kept address. */
const addressed = (path: string): string => path.replace("{ref}/consumers", "/v1/containers/{ref}/consumers");

test("every list of the simulated cloud has a filter case, or a reason to have none", async () => {
  const simulator = await startSimulator();
  const answer = await fetch(`${new URL(simulator.authUrl).origin}/_control/routes`);
  const { routes } = (await answer.json()) as { routes: readonly { method: string; path: string }[] };
  await simulator.close();
  const served = new Set(routes.flatMap(({ method, path }) => (method === "GET" ? (listed(path) ?? []) : [])));
  const cases = filteredLists.map(({ service, path }) => `${service} ${addressed(path.replace(/\?.*/, ""))}`);
  const covered = new Set(cases.map((path) => path.replaceAll(/\{\w+\}/g, "{}")));
  const withReason = Object.values(unfiltered).flat();
  expect([...served].filter((path) => !covered.has(path) && !withReason.includes(path)).toSorted()).toEqual([]);
  expect(
    withReason.filter((path) => !served.has(path) || covered.has(path)),
    "reasons without a list",
  ).toEqual([]);
});
