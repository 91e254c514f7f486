import { readFile } from "node:fs/promises";

/** One line of /proc/self/mountinfo. */
export interface MountEntry {
  /** "major:minor" of the file system's device. */
  readonly device: string;
  /** What of the file system is mounted: "/" unless it is a bind mount of a part. */
  readonly root: string;
  readonly path: string;
  readonly options: readonly string[];
  readonly fsType: string;
  readonly source: string;
}

/** Reads the kernel's table; a line that is not understood is left out. */
export function parseMountInfo(text: string): MountEntry[] {
  return text.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ", 2);
    const [, , device, root, path, options] = before.split(" ");
    const [fsType, source] = after.split(" ");
    if (!device || root === undefined || !path || options === undefined || !fsType) return [];
    const entry = { device, root: unescape(root), path: unescape(path), options: options.split(",") };
    return [{ ...entry, fsType, source: unescape(source ?? "") }];
  });
}

/** Space, tab, line feed and backslash are octal. */
const unescape = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)));

/** Reads a file such as /proc/self/mountinfo. */
export async function mountTable(file: string): Promise<readonly MountEntry[]> {
  return parseMountInfo(await readFile(file, "utf8"));
}

/** The mounts at a path, the topmost last. */
export async function mountsAt(file: string, path: string): Promise<readonly MountEntry[]> {
  return (await mountTable(file)).filter((entry) => entry.path === path);
}
