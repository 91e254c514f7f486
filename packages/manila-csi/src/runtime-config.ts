import { CausewayError, messageOf, parseBoundedJson, parseCidr, readTextFile, type Cidr } from "@causeway/foundation";

/** The file of --runtime-config-file, which may change while the driver runs. */
export interface RuntimeConfig {
  /** Of NFS: the export location of a share must have an address in this network. */
  readonly matchExportLocationAddress: Cidr | undefined;
}

const LONGEST = 64 * 1024;
const DEEPEST = 8;
const NONE: RuntimeConfig = { matchExportLocationAddress: undefined };

/** Reads the file at each use; a file that does not exist sets nothing. Throws CSI_INVALID_ARGUMENT. */
export function readRuntimeConfig(path: string | undefined): RuntimeConfig {
  if (path === undefined || path === "") return NONE;
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    if (isMissing(error)) return NONE;
    throw invalid(path, messageOf(error), error);
  }
  if (text.length > LONGEST) throw invalid(path, "it is longer than 64 KiB");
  return parseRuntimeConfig(text, path);
}

/** Throws CSI_INVALID_ARGUMENT. */
export function parseRuntimeConfig(text: string, path: string): RuntimeConfig {
  let document: unknown;
  try {
    document = parseBoundedJson(text, DEEPEST);
  } catch (error) {
    throw invalid(path, messageOf(error), error);
  }
  const address = member(member(document, "nfs"), "matchExportLocationAddress");
  if (address === undefined || address === null || address === "") return NONE;
  const cidr = typeof address === "string" ? parseCidr(withPrefix(address)) : undefined;
  if (cidr === undefined) throw invalid(path, "nfs.matchExportLocationAddress is neither an address nor a CIDR");
  return { matchExportLocationAddress: cidr };
}

function withPrefix(address: string): string {
  if (address.includes("/")) return address;
  return `${address}/${address.includes(".") ? 32 : 128}`;
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function isMissing(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if (Reflect.get(each, "code") === "ENOENT") return true;
  return false;
}

function invalid(path: string, why: string, cause?: unknown): CausewayError {
  return new CausewayError("CSI_INVALID_ARGUMENT", `The runtime configuration ${path} is not valid: ${why}.`, {
    ...(cause !== undefined && { cause }),
  });
}
