import { accessSync, constants, readdirSync } from "node:fs";
import { join } from "node:path";
import { CausewayError } from "@causeway/foundation";
import { download, DOWNLOADS, readDownloads } from "./downloads.ts";

/** The programs that a folder of one version has. */
export const programNames = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;

/**
 * Versions whose programs are in `folder`, as VERSION/PROGRAM, or can be downloaded into it.
 * @example
 * installedVersions("/var/lib/causeway/programs"); // ["v1.34.1"]
 */
export function installedVersions(folder: string): string[] {
  try {
    const listed = readDownloads(folder);
    const names = new Set([...readdirSync(folder), ...Object.keys(listed)]);
    return [...names]
      .filter((name) => /^v\d+\.\d+\.\d+/.test(name))
      .filter((name) => missingOf(join(folder, name)).every((program) => listed[name]?.[program] !== undefined))
      .toSorted();
  } catch {
    return [];
  }
}

/** A folder of programs, into which those that its list has are downloaded when they are needed. */
export interface ProgramFolder {
  /**
   * The folder with the programs of a version.
   * @throws PROCESS_VERSION_NOT_INSTALLED, PROCESS_DOWNLOAD_FAILED, PROCESS_CHECKSUM_DIFFERS, PROCESS_DOWNLOADS_INVALID
   */
  of(version: string, signal: AbortSignal): Promise<string>;
}

/** Downloads only what is missing, and only if all that is missing is in the list of downloads. */
export function openPrograms(folder: string): ProgramFolder {
  /** By version: of two control planes of one version, one waits for the other's download. */
  const underWay = new Map<string, Promise<void>>();
  return {
    async of(version, signal) {
      const missing = missingOf(join(folder, version));
      const listed = missing.length === 0 ? {} : (readDownloads(folder)[version] ?? {});
      if (missing.length > 0 && missing.every((name) => listed[name] !== undefined)) {
        const running =
          underWay.get(version) ??
          download(folder, { version, programs: missing }, signal).finally(() => underWay.delete(version));
        underWay.set(version, running);
        await running;
      }
      return programsOf(folder, version);
    },
  };
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
    {
      hint: `Put the programs into ${dir}, list them in ${join(folder, DOWNLOADS)}, or set spec.version to an installed version.`,
    },
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
