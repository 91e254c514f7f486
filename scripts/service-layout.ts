/**
 * The layout of files that every service of the simulated cloud has (packages/simulator/README.md, "A service"): each
 * file is in its place, routes are in `resources/`, and what decides does not import what serves.
 */
import { readdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parsedFile } from "./parsed.ts";

/** Folders of the simulator that serve no API of OpenStack. */
const NOT_SERVICES = ["kernel", "cloud", "data-path", "testing"];
/** What may be next to `service.ts`, apart from tests; everything else is in one of the folders. */
const FILES = ["service", "model", "errors", "listing", "views", "seed", "links", "control", "testing"];
const FOLDERS = ["kit", "resources", "rules"];
/** Files that may import from `resources/`, apart from those there and tests: they start a service, or represent it. */
const ABOVE = ["service", "seed", "links", "control", "testing"];

/** Files of `resources/` that mount nothing of their own, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "load-balancing/resources/graph.ts": "the children that the body of a load balancer may have",
};

const MOUNTED = /^mount[A-Z]|(?:Collection|Actions)$/;
/** What a service answers before any resource: its versions, and what no route takes. */
const ROOT = /^(?:\/|\*|\/versions|\/v[\d.]+\/?)$/;
const ROUTE = /\bapp\.(?:get|post|put|patch|delete|all|on)\(\s*(?:`([^`]*)`|"([^"]*)"|([^,]*))/g;

/** What is wrong with the layout of the services, one line each. */
export function checkServiceLayout(
  root: string,
  exceptions: Readonly<Record<string, string>> = EXCEPTIONS,
  sources = "packages/simulator/src",
): string[] {
  const folder = join(root, sources);
  const services = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NOT_SERVICES.includes(entry.name))
    .map((entry) => entry.name)
    .toSorted();
  const used = new Set<string>();
  const problems = services.flatMap((service) => {
    const files = readdirSync(join(folder, service), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
      .toSorted();
    return [
      ...(files.includes(`${service}/service.ts`) ? [] : [`${service}: has no service.ts, which starts it`]),
      ...files.flatMap((file) => [
        ...misplaced(file),
        ...(file.endsWith(".test.ts") ? [] : ofSource(file, folder, { exceptions, used })),
      ]),
    ];
  });
  const needless = Object.keys(exceptions)
    .filter((file) => !used.has(file))
    .map((file) => `scripts/service-layout.ts: remove ${file} from the exceptions: it needs none`);
  return [...problems.map((problem) => `${sources}/${problem}`), ...needless];
}

function misplaced(file: string): string[] {
  const [, first = "", second, third] = file.split("/");
  if (third !== undefined) return [`${file}: a service has folders of one level`];
  if (second !== undefined) return FOLDERS.includes(first) ? [] : [`${file}: a folder is one of ${FOLDERS.join(", ")}`];
  if (first.endsWith(".test.ts") || FILES.includes(first.replace(/\.ts$/, ""))) return [];
  return [`${file}: belongs in one of ${FOLDERS.join(", ")}; next to service.ts are only ${FILES.join(", ")}`];
}

interface Exceptions {
  readonly exceptions: Readonly<Record<string, string>>;
  readonly used: Set<string>;
}

function ofSource(file: string, folder: string, { exceptions, used }: Exceptions): string[] {
  const { text, result } = parsedFile(join(folder, file));
  const [service = "", place = "", inside] = file.split("/");
  const name = place.replace(/\.ts$/, "");
  const names = result.module.staticExports.flatMap((e) => e.entries.map((entry) => entry.exportName.name ?? ""));
  const problems: string[] = [];
  if (file === `${service}/service.ts` && !names.some((exported) => /^create\w+Service$/.test(exported)))
    problems.push(`${file}: exports no create…Service`);
  if (place === "resources" && !names.some((exported) => MOUNTED.test(exported))) {
    if (exceptions[file] === undefined) problems.push(`${file}: exports no mount…, …Collection or …Actions`);
    else used.add(file);
  }
  if (place !== "resources" && place !== "kit" && name !== "control") problems.push(...strayRoutes(file, text));
  for (const { moduleRequest } of result.module.staticImports) {
    const target = relative(folder, resolve(folder, dirname(file), moduleRequest.value)).split(sep);
    if (!moduleRequest.value.startsWith(".") || target[1] !== "resources") continue;
    const isAllowed =
      target[0] === service && (place === "resources" || (inside === undefined && ABOVE.includes(name)));
    if (!isAllowed)
      problems.push(`${file}: may not import ${target.join("/")}: a rule, a view or a kit knows no resource`);
  }
  return problems;
}

/** Routes in a file that should have none; a `service.ts` may have those of its root. */
function strayRoutes(file: string, text: string): string[] {
  const isService = file.endsWith("/service.ts");
  if (/\bmount(?:Resource|KeyValues)[(<]/.test(text)) return [`${file}: mounts a resource; that belongs in resources/`];
  return [...text.matchAll(ROUTE)]
    .map(([, template, quoted, other]) => template ?? quoted ?? other ?? "")
    .filter((path) => !(isService && ROOT.test(path)))
    .map((path) => `${file}: has a route for ${path}; that belongs in resources/`);
}
