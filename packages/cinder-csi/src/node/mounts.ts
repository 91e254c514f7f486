import { lstat, mkdir, open, rm, rmdir } from "node:fs/promises";
import { dirname, isAbsolute, normalize } from "node:path";
import { CausewayError } from "@causeway/foundation";
import { output, type Host } from "@causeway/csi-openstack";
import { mountsAt } from "./mount-table.ts";

/** Mounts that may be stacked at one path: earlier versions of upstream's driver stacked one for each retry. */
const MOST_STACKED = 256;

/** An absolute path in its normal form, as mount tables have it. Throws CSI_INVALID_ARGUMENT. */
export function mountPath(text: string, field: string): string {
  if (text === "") throw new CausewayError("CSI_INVALID_ARGUMENT", `The request has no ${field}.`);
  const path = normalize(text).replace(/(.)\/+$/, "$1");
  if (isAbsolute(path) && path !== "/" && !path.includes("\0")) return path;
  throw new CausewayError("CSI_INVALID_ARGUMENT", `The ${field} "${text}" is not an absolute path below /.`);
}

export async function mount(
  host: Host,
  what: { readonly source: string; readonly path: string; readonly type?: string; readonly options: readonly string[] },
): Promise<void> {
  const type = what.type === undefined ? [] : ["-t", what.type];
  const options = what.options.length === 0 ? [] : ["-o", what.options.join(",")];
  await output(host, "mount", [...type, ...options, what.source, what.path]);
}

/** Unmounts everything at the path and removes it. Nothing there is success. */
export async function unmount(host: Host, path: string): Promise<void> {
  for (let count = 0; (await mountsAt(host.mountInfo, path)).length > 0; count += 1) {
    if (count >= MOST_STACKED) throw new CausewayError("CSI_INTERNAL", `${path} is mounted again and again.`);
    await output(host, "umount", [path]);
  }
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  // A folder that is not empty is no mount point of ours: rmdir fails.
  if (found.isDirectory()) await rmdir(path);
  else await rm(path, { force: true });
}

/** Creates the file that a device is bound to. */
export async function createTargetFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  const file = await open(path, "a", 0o640);
  await file.close();
}

export async function createTargetFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o750 });
}
