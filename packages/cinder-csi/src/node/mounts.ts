import { lstat, mkdir, open, realpath, rm, rmdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, normalize } from "node:path";
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

/**
 * The path as mount tables have it: without links in the folders above it. Throws CSI_FAILED_PRECONDITION where it is a
 * link itself, through which a mount would go to another place of the node.
 */
export async function realMountPath(path: string): Promise<string> {
  const folder = await realpath(dirname(path)).catch(() => undefined);
  const real = folder === undefined ? path : join(folder, basename(path));
  const found = await lstat(real).catch(() => undefined);
  if (found?.isSymbolicLink() !== true) return real;
  throw new CausewayError("CSI_FAILED_PRECONDITION", `${path} is a symbolic link, where a volume cannot be mounted.`);
}

/** Runs mount(8). Without `type` the kernel's default applies, as for a bind mount. @throws CSI_COMMAND_FAILED */
export async function mount(
  host: Host,
  what: { readonly source: string; readonly path: string; readonly type?: string; readonly options: readonly string[] },
): Promise<void> {
  const type = what.type === undefined ? [] : ["-t", what.type];
  const options = what.options.length === 0 ? [] : ["-o", what.options.join(",")];
  await output(host, "mount", [...type, ...options, what.source, what.path]);
}

/**
 * Unmounts everything at the path and removes it. Nothing there is success. What is no mount point of this driver (a
 * folder or file with content) is an error and is kept.
 */
export async function unmount(host: Host, text: string): Promise<void> {
  const path = await realMountPath(text);
  for (let count = 0; (await mountsAt(host.mountInfo, path)).length > 0; count += 1) {
    if (count >= MOST_STACKED) throw new CausewayError("CSI_INTERNAL", `${path} is mounted over repeatedly.`);
    await output(host, "umount", [path]);
  }
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  // rmdir fails for a folder that is not empty.
  if (found.isDirectory()) return rmdir(path);
  if (found.isFile() && found.size > 0)
    throw new CausewayError("CSI_FAILED_PRECONDITION", `${path} is a file with ${found.size} bytes; it is kept.`);
  await rm(path, { force: true });
}

/** Creates the file that a device is bound to. */
export async function createTargetFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  const file = await open(path, "a", 0o640);
  await file.close();
}

/** Creates a folder that a volume is mounted on, with those above it, in mode 0750. */
export async function createTargetFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o750 });
}
