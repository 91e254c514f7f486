import { expect, test } from "vitest";
import { startSimulator } from "@causeway/simulator";
import { groups } from "./groups.ts";
import { unrecorded } from "./unrecorded.ts";

/** The root of each type of service, and where its endpoint begins below the root. */
const services: Readonly<Record<string, readonly [root: string, endpoint: string]>> = {
  compute: ["compute", "/v2.1"],
  identity: ["identity", "/v3"],
  image: ["image", ""],
  "key-manager": ["key-manager", ""],
  "load-balancer": ["load-balancer", ""],
  network: ["network", ""],
  orchestration: ["orchestration", "/v1/PROJECT"],
  placement: ["placement", ""],
  sharev2: ["share", "/v2"],
  volumev3: ["volume", "/v3/PROJECT"],
};

/** The path of a kept address: of a secret or of a container. */
const addressed = (path: string): string =>
  path.replace(/^\{ref\}/, "/v1/secrets/VALUE").replace(/^\{box\}/, "/v1/containers/VALUE");

/** Octavia has each path twice, with and without "lbaas", Barbican some with a slash at the end. */
const isSecondPath = (route: string): boolean =>
  route.endsWith("/") || (route.startsWith("/load-balancer/") && !route.includes("/lbaas/"));

/** The path of a case's POST below the cloud's origin, with a word for each value that an earlier case kept. */
function posted(service: string, call: string): string[] {
  const [method, path = ""] = call.split(/[ ?]/);
  const [root, endpoint] = services[service] ?? [];
  if (method !== "POST" || root === undefined || endpoint === undefined) return [];
  const below = path.startsWith("^") ? path.slice(1) : endpoint + addressed(path);
  return [`/${root}${below.replaceAll(/\{\w+\}/g, "VALUE")}`];
}

/** What a route serves, as a pattern: ":id" is any word, ":v{v2}" what the braces say. */
function patternOf(route: string): RegExp {
  const words = route.replaceAll(/:\w+(?:\{([^}]*)\})?/g, (_whole, inner?: string) =>
    inner === undefined ? "[^/]+" : `(?:${inner})`,
  );
  return new RegExp(`^${words}/?$`);
}

test("every create of the simulated cloud has a recorded case, or is known to have none", async () => {
  const simulator = await startSimulator();
  const answer = await fetch(`${new URL(simulator.authUrl).origin}/_control/routes`);
  const { routes } = (await answer.json()) as { routes: readonly { method: string; path: string }[] };
  await simulator.close();
  const cases = groups.flatMap((group) => group.cases.map((each) => ({ service: group.service, ...each })));
  const paths = cases.flatMap(({ service, call }) => posted(service, call));
  const creates = new Set(routes.flatMap(({ method, path }) => (method === "POST" ? [path] : [])));
  const without = [...creates].filter(
    (route) => !isSecondPath(route) && !paths.some((path) => patternOf(route).test(path)),
  );
  expect(without.filter((route) => !unrecorded.includes(route)).toSorted()).toEqual([]);
  expect(
    unrecorded.filter((route) => !without.includes(route)),
    "known to have no case, and has one or is gone",
  ).toEqual([]);
});
