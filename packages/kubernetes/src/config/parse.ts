import { dirname, resolve } from "node:path";
import { goYamlTags, InputError, isRecord, readTextFile } from "@causeway/foundation";
import { parse } from "yaml";

/** One kubeconfig file as read; `directory` is what its relative paths are relative to. */
export interface KubeconfigFile {
  readonly origin: string;
  readonly directory: string;
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
}

/** The fields of a named entry, and where it was read from. */
export interface Entry {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly directory: string;
  readonly origin: string;
}

/** Characters of a kubeconfig that is given as a text, as in a Secret. */
export const LARGEST_TEXT = 1024 * 1024;
/** Bytes of a user's own file: a thousand contexts with their certificates. */
export const LARGEST_FILE = 8 * 1024 * 1024;

/** Reads one kubeconfig (v1 Config). The text is never quoted in an error: it holds secrets. */
export function parseKubeconfig(text: string, origin: string, directory: string): KubeconfigFile {
  let parsed: unknown;
  try {
    // As kubectl, which takes the last of keys that are equal; to compare each with all before it takes too long.
    parsed = parse(text, {
      version: "1.1",
      customTags: goYamlTags,
      logLevel: "error",
      prettyErrors: false,
      uniqueKeys: false,
    });
  } catch {
    throw invalid(origin, "is not YAML");
  }
  if (parsed === null || parsed === undefined) parsed = {};
  if (!isRecord(parsed)) throw invalid(origin, "is not a mapping");
  if (parsed["kind"] !== undefined && parsed["kind"] !== "Config") throw invalid(origin, "is not of kind Config");
  const current = parsed["current-context"];
  const named = (list: string, entry: string) => entries(parsed, { list, entry, origin, directory });
  return {
    origin,
    directory,
    currentContext: typeof current === "string" && current !== "" ? current : undefined,
    clusters: named("clusters", "cluster"),
    users: named("users", "user"),
    contexts: named("contexts", "context"),
  };
}

/** The first file to name something wins, as with kubectl. */
export function mergeKubeconfigs(files: readonly KubeconfigFile[]): KubeconfigFile {
  const merge = (pick: (file: KubeconfigFile) => ReadonlyMap<string, Entry>) =>
    new Map(files.toReversed().flatMap((file) => [...pick(file)]));
  return {
    origin: files.map((file) => file.origin).join(", "),
    directory: files[0]?.directory ?? ".",
    currentContext: files.find((file) => file.currentContext !== undefined)?.currentContext,
    clusters: merge((file) => file.clusters),
    users: merge((file) => file.users),
    contexts: merge((file) => file.contexts),
  };
}

/** KUBECONFIG_INVALID; `what` continues a sentence: "has an entry without a name in users". */
export function invalid(origin: string, what: string): InputError {
  return new InputError("KUBECONFIG_INVALID", `the kubeconfig ${origin} ${what}`, {
    hint: "Correct the file, or fetch a new kubeconfig for the cluster.",
  });
}

/** A string field of an entry; undefined where it is absent or empty. */
export function textOf(entry: Entry, field: string): string | undefined {
  const value = entry.fields[field];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw invalid(entry.origin, `has a ${field} that is not text`);
  return value;
}

/** A PEM that is in the file in base64 (`field`-data), or in a file of its own (`field`). */
export function pemOf(entry: Entry, field: string): string | undefined {
  const data = textOf(entry, `${field}-data`);
  if (data !== undefined) return Buffer.from(data, "base64").toString("utf8");
  const path = textOf(entry, field);
  if (path === undefined) return undefined;
  const file = resolve(entry.directory, path);
  try {
    return readTextFile(file);
  } catch (cause) {
    throw new InputError(
      "KUBECONFIG_INVALID",
      `${field} ${file}, named in the kubeconfig ${entry.origin}, cannot be read`,
      {
        cause,
        hint: "Check that the file exists and may be read by this user.",
      },
    );
  }
}

/** The folder that relative paths in a kubeconfig start from. */
export function directoryOf(path: string): string {
  return dirname(resolve(path));
}

function entries(
  config: Record<string, unknown>,
  where: { list: string; entry: string; origin: string; directory: string },
): Map<string, Entry> {
  const { origin, directory } = where;
  const list = config[where.list] ?? [];
  if (!Array.isArray(list)) throw invalid(origin, `has ${where.list} that are not a list`);
  const found = new Map<string, Entry>();
  for (const item of list as unknown[]) {
    if (!isRecord(item) || typeof item["name"] !== "string") {
      throw invalid(origin, `has an entry without a name in ${where.list}`);
    }
    const fields = item[where.entry] ?? {};
    if (!isRecord(fields)) throw invalid(origin, `has a ${where.entry} ${item["name"]} that is not a mapping`);
    if (!found.has(item["name"])) found.set(item["name"], { fields, directory, origin });
  }
  return found;
}
