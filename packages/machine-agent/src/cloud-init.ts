import { gunzipSync } from "node:zlib";
import { parse } from "yaml";
import { CausewayError, isRecord } from "@causeway/foundation";

/** What a machine does at its first boot, read from cloud-init user data. */
export interface BootPlan {
  /** Content by absolute path. */
  readonly files: ReadonlyMap<string, string>;
  /** Commands in order; shell words are not split. */
  readonly commands: readonly string[];
}

/** The instance data that a `## template: jinja` document may refer to. */
export interface InstanceData {
  readonly hostname: string;
  readonly instanceId: string;
}

/** What a compressed file may grow to, in bytes. */
const largestFile = 16 * 1024 * 1024;

/**
 * Reads `#cloud-config` user data as cloud-init does: the jinja header, write_files (plain, base64, gzip, both; append)
 * and runcmd (strings and lists).
 * @throws MACHINE_USER_DATA_INVALID when it is not a cloud-config, or a file in it cannot be decoded.
 * @see https://cloudinit.readthedocs.io/en/latest/reference/modules.html
 */
export function readCloudConfig(userData: string, instance: InstanceData): BootPlan {
  const lines = userData.trimStart().split("\n");
  const jinja = /^##\s*template:\s*jinja\s*$/i.test(lines[0] ?? "");
  const body = jinja ? lines.slice(1) : lines;
  const header = body.find((line) => line.trim() !== "") ?? "";
  if (!header.startsWith("#cloud-config")) {
    throw new CausewayError("MACHINE_USER_DATA_INVALID", "the user data is not a cloud-config", {
      hint: "Machines are booted from #cloud-config user data, such as the bootstrap provider writes.",
    });
  }
  const text = jinja ? render(body.join("\n"), instance) : body.join("\n");
  const document = record(parseYaml(text));
  return { files: writeFiles(document["write_files"]), commands: runCommands(document["runcmd"]) };
}

/** The variables that kubeadm's cloud-init templates use; others remain as they are. */
function render(text: string, instance: InstanceData): string {
  return text
    .replaceAll(
      /\{\{\s*(?:ds\.meta_data\.(?:local_hostname|hostname|name)|v1\.local_hostname|local_hostname)\s*\}\}/g,
      () => instance.hostname,
    )
    .replaceAll(
      /\{\{\s*(?:ds\.meta_data\.(?:instance_id|uuid)|v1\.instance_id|instance_id)\s*\}\}/g,
      () => instance.instanceId,
    );
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { version: "1.1", uniqueKeys: false });
  } catch {
    // The parser's own words quote the text, and user data holds secrets.
    throw new CausewayError("MACHINE_USER_DATA_INVALID", "the user data is not valid YAML", {
      hint: "See the bootstrap data Secret of the machine.",
    });
  }
}

function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function writeFiles(value: unknown): Map<string, string> {
  const files = new Map<string, string>();
  for (const entry of Array.isArray(value) ? value : []) {
    const { path, content, encoding, append } = record(entry);
    if (typeof path !== "string") continue;
    const before = append === true ? (files.get(path) ?? "") : "";
    files.set(path, before + decode(path, content, encoding));
  }
  return files;
}

/** cloud-init takes gz, gzip, b64, base64 and the pairs of them joined by "+"; anything else is text as it is. */
function decode(path: string, content: unknown, encoding: unknown): string {
  const names = typeof encoding === "string" ? encoding.toLowerCase().trim().split("+") : [];
  let bytes = content instanceof Uint8Array ? Buffer.from(content) : Buffer.from(textOf(content), "utf8");
  if (names.includes("b64") || names.includes("base64")) bytes = Buffer.from(bytes.toString("latin1"), "base64");
  if (!names.includes("gz") && !names.includes("gzip")) return bytes.toString("utf8");
  try {
    return gunzipSync(bytes, { maxOutputLength: largestFile }).toString("utf8");
  } catch {
    throw new CausewayError("MACHINE_USER_DATA_INVALID", `the file ${path} in the user data is not gzip`, {
      hint: "See the bootstrap data Secret of the machine: encoding and content of write_files must agree.",
    });
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

function runCommands(value: unknown): string[] {
  const commands: string[] = [];
  for (const entry of Array.isArray(value) ? value : []) {
    if (typeof entry === "string") commands.push(entry);
    else if (Array.isArray(entry)) commands.push(entry.map(textOf).join(" "));
  }
  return commands;
}
