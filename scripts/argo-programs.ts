/**
 * Builds Argo CD's application controller and repository server of the pinned release, with the CRDs that they need.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { buildMissing, cached, pinnedVersion, root, type Built } from "./kubernetes-programs.ts";

const folder = join(root, "tools/argo");
const MODULE = "github.com/argoproj/argo-cd/v3";

/**
 * The program `argo` with both as commands and a Redis, next to the folder `crds`. It takes minutes of a core, so it is
 * built only on request.
 */
export async function argoPrograms(options: { build: boolean }): Promise<Built> {
  const version = pinnedVersion(folder, MODULE);
  const dir = cached(`argo-${version}`);
  if (!options.build && !existsSync(join(dir, "argo")))
    return { reason: `Argo CD ${version} is not built: npm run test:programs -- argo builds it` };
  const flags = `-s -w -X ${MODULE}/common.version=${version.slice(1)}`;
  const made = await buildMissing([{ name: "argo", source: ".", flags }], folder, dir);
  if ("reason" in made || existsSync(join(dir, "crds"))) return made;
  const found = spawnSync("go", ["mod", "download", "-json", MODULE], { cwd: folder, encoding: "utf8" });
  const { Dir: module } = JSON.parse(found.stdout) as { Dir?: string };
  if (module === undefined) return { reason: `${MODULE} could not be downloaded: ${found.stderr}` };
  cpSync(join(module, "manifests/crds"), join(dir, "crds"), { recursive: true });
  return made;
}
