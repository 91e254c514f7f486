import { accessSync, constants, readdirSync } from "node:fs";
import { join } from "node:path";
import { CausewayError } from "@causeway/foundation";

export const programNames = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;

/** Versions whose programs are in `folder`, as VERSION/PROGRAM. */
export function installedVersions(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^v\d+\.\d+\.\d+/.test(name) && missingOf(join(folder, name)).length === 0)
      .toSorted();
  } catch {
    return [];
  }
}

/**
 * The folder with the programs of a version.
 * @throws PROCESS_VERSION_NOT_INSTALLED
 */
export function programsOf(folder: string, version: string): string {
  const dir = join(folder, version);
  const missing = missingOf(dir);
  if (missing.length === 0) return dir;
  const installed = installedVersions(folder);
  const others = installed.length === 0 ? "no version is installed there" : `installed: ${installed.join(", ")}`;
  throw new CausewayError(
    "PROCESS_VERSION_NOT_INSTALLED",
    `Kubernetes ${version} is not installed in ${folder}: ${missing.join(", ")} cannot be run; ${others}`,
    { hint: `Put the programs into ${dir}, or set spec.version to an installed version.` },
  );
}

function missingOf(dir: string): string[] {
  return programNames.filter((name) => {
    try {
      accessSync(join(dir, name), constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });
}
