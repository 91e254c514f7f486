/**
 * Resources of the simulated cloud are tables that `kernel/rest/resource.ts` serves: no file writes the routes of list,
 * show, create and delete by hand, apart from those below.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files with routes of their own, and why. One without such routes must be removed. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "network/collection.ts": "Neutron's own table: bulk creates, revisions and attributes with policies",
  "network/port-forwardings.ts": "below a floating IP, whose routes need both",
  "network/qos.ts": "rules below a policy, one set of routes for each type",
  "load-balancing/health-monitors.ts": "a change locks a load balancer and settles later",
  "load-balancing/l7.ts": "a change locks a load balancer and settles later",
  "load-balancing/listeners.ts": "a change locks a load balancer and settles later",
  "load-balancing/load-balancers.ts": "a change locks a load balancer and settles later",
  "load-balancing/members.ts": "a change locks a load balancer and settles later",
  "load-balancing/pools.ts": "a change locks a load balancer and settles later",
  "load-balancing/offer-routes.ts": "flavors and availability zones have one set of routes, with words as data",
  "compute/aggregates.ts": "a create and an update complain about bodies in different words",
  "compute/network-proxies.ts": "passes requests on to Neutron",
  "compute/security-group-proxies.ts": "passes requests on to Neutron",
  "compute/servers.ts": "Nova's own: create and delete are operations with states",
  "identity/credentials.ts": "below a user, with owners of their own",
  "identity/domain-projects.ts": "domains are projects, too",
  "identity/ec2-credentials.ts": "below a user, with owners of their own",
  "identity/limits.ts": "creates many at a time",
  "image/tasks.ts": "without envelopes",
  "placement/providers.ts": "without envelopes, with generations",
};

const ROUTE = /\bapp\.(get|post|delete)\(\s*(`[^`]+`|"[^"]+"|\w+)/g;

/** Every resource with routes that are written by hand, as "file: path", and every exception that is not needed. */
export function checkResourceKit(
  root: string,
  exceptions: Readonly<Record<string, string>> = EXCEPTIONS,
  sources = "packages/simulator/src",
): string[] {
  const folder = join(root, sources);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .toSorted();
  const found = files.flatMap((file) =>
    handWritten(readFileSync(join(folder, file), "utf8")).map((path) => ({ file, path })),
  );
  const needed = new Set(found.map(({ file }) => file));
  return [
    ...found
      .filter(({ file }) => exceptions[file] === undefined)
      .map(({ file, path }) => `${sources}/${file} writes the routes of ${path} by hand; use mountResource`),
    ...Object.keys(exceptions)
      .filter((file) => !needed.has(file))
      .map((file) => `scripts/resource-kit.ts: remove ${file} from the exceptions: it writes no such routes`),
  ];
}

/** The paths of resources whose list, show, create and delete are routes in this text. */
function handWritten(text: string): string[] {
  const routes = new Map<string, Set<string>>();
  for (const [, method = "", written = ""] of text.matchAll(ROUTE)) {
    const path = /^[`"]/.test(written) ? written.slice(1, -1) : `\${${written}}`;
    routes.set(path, (routes.get(path) ?? new Set()).add(method));
  }
  return [...routes].flatMap(([path, methods]) => {
    const one = routes.get(`${path}/:id`);
    const isWhole = methods.has("get") && methods.has("post") && one?.has("get") && one.has("delete");
    return isWhole === true ? [path] : [];
  });
}
