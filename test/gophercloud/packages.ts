import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { copyWithoutSkips } from "../support/without-skips.ts";
import { buildMissing, cached, pinnedVersion, root, withoutGo, type Built } from "../../scripts/kubernetes-programs.ts";

const MODULE = "github.com/gophercloud/gophercloud/v2";
const WITHIN = "internal/acceptance/openstack";
const ACCEPTANCE = `${MODULE}/${WITHIN}`;
const TAG = "acceptance";
const folder = join(root, "tools/gophercloud");

/** The simulated cloud has it only with the whole system behind it. */
export const MAGNUM = "containerinfra";

/** A package of tests, built. */
export interface TestPackage {
  /** "v2/extensions/layer3", below its service's folder. */
  readonly name: string;
  readonly file: string;
}

/** The packages of one service, built at first into the user's cache directory; or why there are none. */
export async function testPackages(service: string): Promise<readonly TestPackage[] | { readonly reason: string }> {
  const problem = withoutGo();
  if (problem !== undefined) return problem;
  const under = `${ACCEPTANCE}/${service}`;
  const names = listed(`${under}/...`).map((path) => path.slice(under.length + 1));
  const from = service === MAGNUM ? withClusters() : { module: folder, path: under, suffix: "" };
  const programs = names.map((name) => ({
    name: `${service}_${name.replaceAll("/", "_")}${from.suffix}.test`,
    source: `${from.path}/${name}`,
    flags: "-s -w",
    tests: TAG,
  }));
  const built: Built = await buildMissing(programs, from.module, cache());
  if ("reason" in built) return built;
  return names.map((name, at) => ({ name, file: join(built.dir, programs[at]?.name ?? "") }));
}

const cache = (): string => cached(`gophercloud-${pinnedVersion(folder, MODULE)}`);

/** The tests of Magnum, with those that upstream skips because its CI cannot create clusters. */
function withClusters(): { readonly module: string; readonly path: string; readonly suffix: string } {
  const copy = join(cache(), "with-clusters");
  const tests = `${WITHIN}/${MAGNUM}`;
  if (!existsSync(copy)) {
    const reason = "Failure to deploy cluster in CI";
    copyWithoutSkips({ folder, module: MODULE, tests: `${tests}/v1`, reason, to: copy });
  }
  return { module: copy, path: `./${tests}`, suffix: "_clusters" };
}

/** Import paths that match and have tests. */
function listed(pattern: string): string[] {
  const format = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}";
  const args = ["list", "-mod=mod", "-tags", TAG, "-f", format, pattern];
  const { status, stdout, stderr } = spawnSync("go", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`go list ${pattern}: ${stderr}`);
  return stdout.split("\n").filter((line) => line !== "");
}
