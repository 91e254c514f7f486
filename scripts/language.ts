/** The words of docs/style.md that are replaced: no comment, string or page of the folders below uses them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** Folders and files that were rewritten to the style guide. One that is not here is still to be rewritten. */
const REWRITTEN: readonly string[] = [
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "README.md",
  "docs/decisions",
  "docs/explanation",
  "docs/glossary.md",
  "docs/howto",
  "docs/status.md",
  "docs/tutorials",
  "docs/reference/cloud-controller-manager.md",
  "docs/reference/e2e-api.md",
  "docs/reference/e2e.md",
  "docs/reference/errors/cluster-api-openstack.md",
  "docs/reference/errors/cluster-api.md",
  "docs/reference/errors/csi.md",
  "docs/reference/errors/foundation.md",
  "docs/reference/errors/hosted-control-plane.md",
  "docs/reference/errors/openstack.md",
  "docs/reference/errors/simulator.md",
  "docs/reference/barbican-kms.md",
  "docs/reference/errors/barbican-kms.md",
  "docs/reference/errors/kms.md",
  "docs/reference/keystone-auth.md",
  "docs/reference/errors/keystone-auth.md",
  "docs/reference/errors/reverse-tunnel.md",
  "docs/reference/reverse-tunnel.md",
  "docs/reference/octavia-ingress.md",
  "docs/reference/errors/octavia-ingress.md",
  "docs/reference/services.md",
  "packages/api",
  "packages/csi",
  "packages/cluster-api",
  "packages/cluster-api-openstack",
  "packages/foundation",
  "packages/barbican-kms",
  "packages/keystone-auth",
  "packages/octavia-ingress",
  "packages/kms",
  "packages/hosted-control-plane",
  "packages/openstack",
  "packages/reverse-tunnel",
  "packages/simulator",
  "packages/workload-controllers",
  "scripts/docs",
  "scripts/folder-order.ts",
  "scripts/language.ts",
  "test/docs",
  "tools/devcloud",
];

const REPLACED: readonly (readonly [word: string, instead: string])[] = [
  ["tol" + "d", "reported, returned, logged"],
  ["tel" + "ls", "reports, returns, logs"],
  ["ane" + "w", "again; recreate"],
  ["men" + "d", "fix, repair"],
  ["men" + "ds", "fixes, repairs"],
  ["men" + "ded", "fixed, repaired"],
  ["bea" + "rs", "has"],
  ["nobod" + "y", "the name of the actor: no user, no controller"],
  ["somebod" + "y", "the name of the actor"],
  ["whoeve" + "r", "the name of the actor"],
  ["let " + "go", "release"],
  ["named " + "otherwise", "renamed"],
];
const FOUND = new RegExp(`\\b(?:${REPLACED.map(([word]) => word).join("|")})\\b`, "giu");
const READ = /\.(?:ts|js|md|sh|yaml)$/;
/** What others wrote, which our words must equal. */
const RECORDED = /\/(?:truth|fixtures|node_modules)\//;

/** Every use of a replaced word, as "file:line". */
export function checkLanguage(root: string, places: readonly string[] = REWRITTEN): string[] {
  return places.flatMap((place) => filesOf(join(root, place))).flatMap((file) => problemsOf(root, file));
}

function filesOf(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat ? [path] : [];
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && READ.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !RECORDED.test(file));
}

function problemsOf(root: string, file: string): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, i) =>
      [...line.matchAll(FOUND)].map(([word]) => {
        const instead = REPLACED.find(([known]) => known === word.toLowerCase())?.[1] ?? "";
        return `${relative(root, file)}:${i + 1} uses "${word}"; write: ${instead}`;
      }),
    );
}
