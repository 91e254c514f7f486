/**
 * Resources of the simulated cloud are tables that `kernel/rest/resource.ts` serves, and their metadata and extra specs
 * tables of `kernel/rest/key-values.ts`: no file writes the routes of list, show, create and delete, or of pairs by
 * their key, by hand, apart from those below.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files with routes of their own, and why. One without such routes must be removed. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "network/kit/collection.ts": "Neutron's own table: bulk creates, revisions and attributes with policies",
  "compute/resources/network-proxies.ts": "passes requests on to Neutron",
  "compute/resources/security-group-proxies.ts": "passes requests on to Neutron",
  "compute/resources/servers.ts": "Nova's own: create and delete are operations with states",
  "identity/resources/domain-projects.ts": "in front of the routes of projects: domains are projects, too",
  "image/resources/images.ts": "Glance's own: a change is a JSON Patch, and pages have links in their body",
  "key-manager/resources/metadata.ts": "Barbican's own: keys in small letters, one pair as {key, value}",
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
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.startsWith("kernel/rest/"))
    .toSorted();
  const found = files.flatMap((file) =>
    handWritten(readFileSync(join(folder, file), "utf8")).map((path) => ({ file, path })),
  );
  const needed = new Set(found.map(({ file }) => file));
  return [
    ...found
      .filter(({ file }) => exceptions[file] === undefined)
      .map(
        ({ file, path }) =>
          `${sources}/${file} writes the routes of ${path} by hand; use mountResource or mountKeyValues`,
      ),
    ...Object.keys(exceptions)
      .filter((file) => !needed.has(file))
      .map((file) => `scripts/resource-kit.ts: remove ${file} from the exceptions: it writes no such routes`),
  ];
}

/** The paths of resources whose list, show, create and delete are routes in this text, and those of pairs by key. */
function handWritten(text: string): string[] {
  const routes = new Map<string, Set<string>>();
  for (const { index, 1: method = "", 2: written = "" } of text.matchAll(ROUTE)) {
    const path = resolved(written, text.slice(0, index));
    routes.set(path, (routes.get(path) ?? new Set()).add(method));
  }
  return [...routes].flatMap(([path, methods]) => {
    const [one, pair] = [routes.get(`${path}/:id`), routes.get(`${path}/:key`)];
    const isResource = methods.has("post") && one?.has("get") === true && one.has("delete");
    const isOfPairs = pair?.has("get") === true && pair.has("delete");
    return methods.has("get") && (isResource || isOfPairs) ? [path] : [];
  });
}

/** A path as it is served: constants that `before` defines last are put in. */
function resolved(written: string, before: string): string {
  if (/^[`"]/.test(written))
    return written.slice(1, -1).replace(/\$\{(\w+)\}/g, (_, name: string) => valueOf(name, before));
  return valueOf(written, before);
}

function valueOf(name: string, before: string): string {
  const definitions = [...before.matchAll(new RegExp(String.raw`\bconst ${name} = (\`[^\`]+\`|"[^"]+");`, "g"))];
  const last = definitions.at(-1);
  return last?.[1] === undefined ? `\${${name}}` : resolved(last[1], before.slice(0, last.index));
}
