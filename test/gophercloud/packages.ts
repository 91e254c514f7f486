import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { buildMissing, cached, pinnedVersion, root, withoutGo, type Built } from "../../scripts/kubernetes-programs.ts";

const MODULE = "github.com/gophercloud/gophercloud/v2";
const ACCEPTANCE = `${MODULE}/internal/acceptance/openstack`;
const TAG = "acceptance";
const folder = join(root, "tools/gophercloud");

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
  const programs = names.map((name) => ({
    name: `${service}_${name.replaceAll("/", "_")}.test`,
    source: `${under}/${name}`,
    flags: "-s -w",
    tests: TAG,
  }));
  const built: Built = await buildMissing(programs, folder, cached(`gophercloud-${pinnedVersion(folder, MODULE)}`));
  if ("reason" in built) return built;
  return names.map((name, at) => ({ name, file: join(built.dir, programs[at]?.name ?? "") }));
}

/** Import paths that match and have tests. */
function listed(pattern: string): string[] {
  const format = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}";
  const args = ["list", "-mod=mod", "-tags", TAG, "-f", format, pattern];
  const { status, stdout, stderr } = spawnSync("go", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`go list ${pattern}: ${stderr}`);
  return stdout.split("\n").filter((line) => line !== "");
}
